import type { Clock } from '@gateway/shared/clock';
import { quotaBucketStream, quotaSubject } from '@gateway/shared/messaging/names';
import type { NatsLink } from '../nats/nats-link.ts';
import { StreamValues, type ValueKey } from '../nats/stream-values.ts';
import { kvWriteResult } from './kv-write.ts';
import {
  ANSWER_MS,
  decodeEntry,
  encodeEntry,
  WRITE_MS,
  type LedgerEntry,
  type LedgerKey,
  type LedgerState,
  type QuotaLedger,
  type WriteResult,
} from './ledger.ts';

/** The ledger in two buckets of NATS KV: one for windows of minutes, one for longer windows. */
export class KvQuotaLedger implements QuotaLedger {
  readonly #link: NatsLink;
  readonly #values: StreamValues;

  constructor(link: NatsLink, clock: Clock) {
    this.#link = link;
    this.#values = new StreamValues(link, clock);
  }

  get reachable(): boolean {
    return this.#link.connection !== undefined;
  }

  get losses(): number {
    return this.#link.losses;
  }

  async read(key: LedgerKey, withinMs = ANSWER_MS): Promise<LedgerState> {
    const { revision, value } = await this.#values.read(placeOf(key), withinMs);
    return { entry: value === undefined ? undefined : decodeEntry(value), revision };
  }

  write(key: LedgerKey, entry: LedgerEntry, revision: number): Promise<WriteResult> {
    const value = encodeEntry(entry);
    return kvWriteResult(this.#values.write(placeOf(key), value, revision, WRITE_MS));
  }
}

function placeOf({ windowMs, hash }: LedgerKey): ValueKey {
  return { stream: quotaBucketStream(windowMs), subject: quotaSubject(windowMs, hash) };
}
