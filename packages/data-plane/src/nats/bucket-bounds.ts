import type { Clock } from '@gateway/shared/clock';
import type { BucketFill } from './bucket-fill.ts';
import { HeldBytes, type HeldEntry } from './held-bytes.ts';

/**
 * The bounds on new entries of a bucket. `route`: the route has as much as it may. `no_credentials`: callers without
 * credentials have, all of them together. `bucket`: the rest of the bucket is for the entries that it has.
 */
export const BUCKET_BOUNDS = ['route', 'no_credentials', 'bucket'] as const;
export type BucketBound = (typeof BUCKET_BOUNDS)[number];

/** The bound that is reached, as a clause. */
export function describeBound(bound: BucketBound): string {
  return BOUND_TEXTS[bound];
}

const BOUND_TEXTS: Readonly<Record<BucketBound, string>> = {
  route: 'the route has as many entries in the bucket as it may',
  no_credentials: 'routes without authentication have as many entries in the bucket as they may',
  bucket: 'the bucket is nearly full',
};

/** On whose behalf an entry is stored. */
export interface EntryOwner {
  /** The environment and the name of the route. */
  readonly key: string;
  /** Whether the route requires no authentication, so that anybody can cause its entries. */
  readonly withoutCredentials?: boolean | undefined;
}

/** The bounds for one kind of owner, as parts of the limit of the bucket. */
interface OwnerBounds {
  /** Above this fill no owner of the kind gets new entries. */
  readonly all: number;
  /** Above this fill a route gets new entries only if it has less than its share of `route`. */
  readonly free: number;
  /** What a route may have above that, divided among the data planes. */
  readonly route: number;
}

export interface BucketParts {
  readonly withCredentials: OwnerBounds;
  readonly withoutCredentials: OwnerBounds;
}

export interface BucketBoundsOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly fill: BucketFill;
  readonly parts: BucketParts;
  /** How long the bucket keeps an entry after the last write. */
  readonly keptMs: number;
  /** The number of live data planes, this one included. */
  readonly nodes: () => number;
}

/**
 * Decides whether a bucket may get a new entry. A full bucket refuses every write, also those of entries that it has, so
 * new entries end well before that: first of routes that have many, then of callers without credentials, then all.
 * docs/adr/0055-bounds-of-buckets.md has the reasons.
 */
export class BucketBounds {
  /** New entries that were refused, by bound. */
  readonly refused: Record<BucketBound, number> = { route: 0, no_credentials: 0, bucket: 0 };
  readonly #options: BucketBoundsOptions;
  readonly #held: HeldBytes;

  constructor(options: BucketBoundsOptions) {
    this.#options = options;
    this.#held = new HeldBytes(options.keptMs);
  }

  /** Resolves soon, when the fill is known that the bucket had a few seconds ago. Never rejects. */
  isRecent(): Promise<void> {
    return this.#options.fill.isRecent();
  }

  /** The used part of the bucket. */
  get fillPart(): number {
    return this.#options.fill.part;
  }

  /** The bound at which a new entry would be refused now; undefined: it would be stored. */
  boundOf({ key, withoutCredentials = false }: EntryOwner): BucketBound | undefined {
    const { clock, fill, parts, nodes } = this.#options;
    const { part } = fill;
    if (part >= parts.withCredentials.all) return 'bucket';
    const kind = withoutCredentials ? 'withoutCredentials' : 'withCredentials';
    const { all, free, route } = parts[kind];
    if (part >= all) return 'no_credentials';
    if (part < free) return undefined;
    const shareBytes = (route * fill.maxBytes) / nodes();
    return this.#held.of(key, clock.monotonicMs()) >= shareBytes ? 'route' : undefined;
  }

  /**
   * Decides about a new entry, and counts it.
   *
   * @returns the bound at which it is refused; undefined: it may be stored
   */
  admit(owner: EntryOwner, bytes: number): BucketBound | undefined {
    const { fill, nodes } = this.#options;
    const bound = this.boundOf(owner);
    if (bound !== undefined) this.refused[bound] += 1;
    // The others may create as many until the size is read again.
    else fill.add(bytes * nodes());
    return bound;
  }

  /**
   * An entry was stored, or may have been.
   *
   * @param entry an object that stands for it, if it may be written again
   * @param existed whether the bucket had the entry before
   */
  wrote({ key }: EntryOwner, bytes: number, entry?: HeldEntry, existed = false): void {
    this.#held.wrote(key, bytes, this.#options.clock.monotonicMs(), entry, existed);
  }

  /** The object does not stand for its entry any more, which the bucket keeps. */
  forgot(entry: HeldEntry): void {
    this.#held.forgot(entry);
  }
}
