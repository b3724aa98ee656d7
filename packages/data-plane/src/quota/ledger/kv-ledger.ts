import type { Clock } from '@gateway/shared/clock';
import {
  quotaBucket,
  quotaBucketStream,
  quotaSubject,
  SHORT_QUOTA_WINDOW_MS,
} from '@gateway/shared/messaging/names';
import { RETENTION_MS } from '@gateway/shared/messaging/retention';
import { BucketBounds, type BucketBound, type BucketParts } from '../../nats/bucket-bounds.ts';
import { BucketFill, sizeOf } from '../../nats/bucket-fill.ts';
import type { NatsLink } from '../../nats/nats-link.ts';
import { StreamValues, type ValueKey } from '../../nats/stream-values.ts';
import { ANSWER_MS, kvWriteResult, type WriteResult } from '../../nats/kv-write.ts';
import {
  decodeEntry,
  encodeEntry,
  WRITE_MS,
  type LedgerEntry,
  type LedgerKey,
  type LedgerState,
  type QuotaLedger,
} from './ledger.ts';

const LONG_WINDOW_MS = SHORT_QUOTA_WINDOW_MS + 1;

/**
 * A fifth is for the entries that exist: they grow with the number of data planes. A route has at most half of a bucket,
 * one without authentication a quarter.
 */
const PARTS: BucketParts = {
  withCredentials: { all: 0.8, free: 1 / 4, route: 1 / 4 },
  withoutCredentials: { all: 1 / 2, free: 1 / 8, route: 1 / 8 },
};

/** What NATS stores of a message besides subject and value, bytes. */
const MESSAGE_BYTES = 90;

/** The ledger in two buckets of NATS KV: one for windows of minutes, one for longer windows. */
export class KvQuotaLedger implements QuotaLedger {
  /** Of the two buckets, by name. */
  readonly bounds: ReadonlyMap<string, BucketBounds>;
  readonly #link: NatsLink;
  readonly #values: StreamValues;

  /** @param nodes the number of live data planes, this one included */
  constructor(link: NatsLink, clock: Clock, nodes: () => number) {
    this.#link = link;
    this.#values = new StreamValues(link, clock);
    const boundsFor = (windowMs: number, keptMs: number): [string, BucketBounds] => {
      const fill = new BucketFill(clock, sizeOf(link, quotaBucketStream(windowMs)));
      const bounds = new BucketBounds({ clock, fill, parts: PARTS, keptMs, nodes });
      return [quotaBucket(windowMs), bounds];
    };
    this.bounds = new Map([
      boundsFor(SHORT_QUOTA_WINDOW_MS, RETENTION_MS.shortQuotas),
      boundsFor(LONG_WINDOW_MS, RETENTION_MS.quotas),
    ]);
  }

  get reachable(): boolean {
    return this.#link.connection !== undefined;
  }

  get losses(): number {
    return this.#link.losses;
  }

  async read(key: LedgerKey, withinMs = ANSWER_MS): Promise<LedgerState> {
    const { revision, value } = await this.#values.read(valueKeyOf(key), withinMs);
    return { entry: value === undefined ? undefined : decodeEntry(value), revision };
  }

  boundOf({ owner, windowMs }: LedgerKey): BucketBound | undefined {
    return owner && this.bounds.get(quotaBucket(windowMs))?.boundOf(owner);
  }

  async write(key: LedgerKey, entry: LedgerEntry, revision: number): Promise<WriteResult> {
    const { owner } = key;
    const place = valueKeyOf(key);
    const value = encodeEntry(entry);
    const bytes = place.subject.length + value.length + MESSAGE_BYTES;
    const bounds = this.bounds.get(quotaBucket(key.windowMs));
    if (owner !== undefined && revision === 0) {
      await bounds?.isRecent();
      const bound = bounds?.admit(owner, bytes);
      if (bound !== undefined) return { kind: 'full', bound };
    }
    const result = await kvWriteResult(this.#values.write(place, value, revision, WRITE_MS));
    const mayBeStored = result.kind === 'written' || result.kind === 'unknown';
    if (owner !== undefined && mayBeStored) bounds?.wrote(owner, bytes, key, revision > 0);
    return result;
  }

  forget(key: LedgerKey): void {
    this.bounds.get(quotaBucket(key.windowMs))?.forgot(key);
  }
}

function valueKeyOf({ windowMs, hash }: LedgerKey): ValueKey {
  return { stream: quotaBucketStream(windowMs), subject: quotaSubject(windowMs, hash) };
}
