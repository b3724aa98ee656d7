import type { HeaderFields } from '@gateway/http/fields/header-fields';
import type { CompiledAffinity } from '../routing-table/compile-affinity.ts';
import type {
  CompiledService,
  CompiledUpstream,
  CompiledVersion,
} from '../routing-table/routing-table.ts';

/** What chooses an upstream by its health; see `ServiceBalancer`. */
export interface UpstreamChoice {
  readonly service: CompiledService;
  choose(regions: readonly string[], tried: ReadonlySet<number>): number;
  chooseByScore(
    regions: readonly string[],
    tried: ReadonlySet<number>,
    scoreOf: (upstream: CompiledUpstream) => number,
  ): number;
}

/** Where one request belongs, and what that changes of it and of its response. */
export interface RequestAffinity {
  readonly policy: CompiledAffinity;
  /** What the requests of one caller or session have in common; undefined: the request belongs nowhere yet. */
  readonly caller: string | undefined;
  /** The upstream that has the session of the request. */
  readonly upstream: CompiledUpstream | undefined;
  /** The `Set-Cookie` field for a caller that has no cookie of the gateway yet. */
  readonly newCookie: string | undefined;
  /** Whether all attempts go to the upstream that is chosen first. */
  readonly staysPut: boolean;
  /** Whether the upstream of the first attempt follows from the request. */
  readonly isKnown: boolean;
  /**
   * The version of the request: the one that has its session, else the one that is chosen for its caller. If both are of
   * the same service, the latter.
   */
  versionOf(
    versions: readonly CompiledVersion[],
    chosen: CompiledVersion | undefined,
  ): CompiledVersion | undefined;
  /**
   * Returns the index of the upstream for the next attempt, or −1 if the service has none.
   *
   * @param regions the failover order of the route
   * @param tried indices of the upstreams that this request has tried
   * @param before the index of the attempt before; −1: this is the first one
   */
  choose(
    upstreams: UpstreamChoice,
    regions: readonly string[],
    tried: ReadonlySet<number>,
    before: number,
  ): number;
  /** The caller's fields as the upstream gets them: with the ids that it has made, and without the gateway's cookie. */
  inward(fields: string[]): string[];
  /** The fields of a response of this upstream: the ids of its sessions have suffixes. An empty id ends a session. */
  outward(fields: HeaderFields, upstream: CompiledUpstream): HeaderFields;
}
