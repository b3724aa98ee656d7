import type { HeaderFields } from '@gateway/http/fields/header-fields';
import type { RequestAffinity, UpstreamChoice } from '../request/request-affinity.ts';
import type { CompiledAffinity } from '../routing-table/compile-affinity.ts';
import { hashText, rendezvousScore } from '../routing-table/hash-text.ts';
import type { CompiledUpstream, CompiledVersion } from '../routing-table/routing-table.ts';
import { changed, withCookies, withSetCookies } from './cookies.ts';
import type { SessionSuffixes } from './session-suffixes.ts';

/** What a request says about where it belongs. */
export interface Belonging {
  /** What requests of one caller or session have in common; undefined: the request belongs nowhere yet. */
  readonly caller?: string;
  /** The upstream that has the session. */
  readonly upstream?: CompiledUpstream;
  /** What upstreams get for the ids that the caller sends, if that is another text; undefined: nothing. */
  readonly ids?: ReadonlyMap<string, string | undefined>;
  /** The `Set-Cookie` field for a caller that has no cookie of the gateway yet. */
  readonly newCookie?: string;
}

const NONE: ReadonlyMap<string, undefined> = new Map();

/** What follows from where a request belongs. */
export class KnownAffinity implements RequestAffinity {
  readonly policy: CompiledAffinity;
  readonly caller: string | undefined;
  readonly upstream: CompiledUpstream | undefined;
  readonly newCookie: string | undefined;
  readonly staysPut: boolean;
  readonly #ids: ReadonlyMap<string, string | undefined>;
  readonly #suffixes: SessionSuffixes;

  constructor(policy: CompiledAffinity, belonging: Belonging, suffixes: SessionSuffixes) {
    this.policy = policy;
    this.caller = belonging.caller;
    this.upstream = belonging.upstream;
    this.newCookie = belonging.newCookie;
    this.staysPut =
      !policy.retryElsewhere && (this.caller !== undefined || this.upstream !== undefined);
    this.#ids = belonging.ids ?? NONE;
    this.#suffixes = suffixes;
  }

  get isKnown(): boolean {
    return (
      this.upstream !== undefined || (this.caller !== undefined && this.newCookie === undefined)
    );
  }

  versionOf(
    versions: readonly CompiledVersion[],
    chosen: CompiledVersion | undefined,
  ): CompiledVersion | undefined {
    const { upstream } = this;
    if (upstream === undefined || chosen?.service.id === upstream.serviceId) return chosen;
    return versions.find(({ service }) => service.id === upstream.serviceId);
  }

  choose(
    upstreams: UpstreamChoice,
    regions: readonly string[],
    tried: ReadonlySet<number>,
    before: number,
  ): number {
    const { upstream, caller } = this;
    const isFirst = before === -1;
    if (!isFirst && this.staysPut) return before;
    if (isFirst && upstream !== undefined) {
      return upstreams.service.upstreams.findIndex(({ id }) => id === upstream.id);
    }
    if (caller === undefined) return upstreams.choose(regions, tried);
    const hash = hashText(caller);
    return upstreams.chooseByScore(regions, tried, (candidate) =>
      rendezvousScore(hash, seedOf(candidate), candidate.weight),
    );
  }

  inward(fields: string[]): string[] {
    const { by, name } = this.policy;
    if (by === 'gateway_cookie') return withCookies(fields, name, () => undefined);
    if (this.#ids.size === 0) return fields;
    const idOf = (sent: string) => (this.#ids.has(sent) ? this.#ids.get(sent) : sent);
    if (by === 'upstream_cookie') return withCookies(fields, name, idOf);
    let isPassed = false;
    return changed(fields, name, (sent) => {
      // Equal lines count as one. Servers join them into a list, which is no id.
      if (isPassed) return undefined;
      isPassed = true;
      return idOf(sent.trim());
    });
  }

  outward(fields: HeaderFields, upstream: CompiledUpstream): HeaderFields {
    const { by, name } = this.policy;
    const signed = (id: string) => (id === '' ? id : this.#suffixes.signed(id, upstream));
    if (by === 'upstream_cookie') return withSetCookies(fields, name, signed);
    if (by === 'upstream_header') return changed(fields, name, signed);
    return by === 'gateway_cookie' ? withSetCookies(fields, name, () => undefined) : fields;
  }
}

const seeds = new WeakMap<CompiledUpstream, number>();

/** Of its id, which is the same on all data planes and stays when others come and go. */
function seedOf(upstream: CompiledUpstream): number {
  let seed = seeds.get(upstream);
  if (seed === undefined) {
    seed = hashText(upstream.id);
    seeds.set(upstream, seed);
  }
  return seed;
}
