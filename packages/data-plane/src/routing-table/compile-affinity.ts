import {
  affinityName,
  type AffinityKind,
  type RouteAffinity,
} from '@gateway/shared/definitions/route-affinity';

/** By what the requests of a caller find the same upstream. */
export interface CompiledAffinity {
  readonly by: AffinityKind;
  /** Of the header, in lower case, or of the cookie; empty if the kind has neither. */
  readonly name: string;
  /** Whether a retry may go to another upstream. */
  readonly retryElsewhere: boolean;
}

export function compileAffinity(affinity: RouteAffinity | null): CompiledAffinity | undefined {
  if (affinity === null) return undefined;
  const { by, retry_elsewhere: retryElsewhere } = affinity;
  const name = affinityName(affinity);
  const isCookie = by === 'gateway_cookie' || by === 'upstream_cookie';
  return { by, name: isCookie ? name : name.toLowerCase(), retryElsewhere };
}
