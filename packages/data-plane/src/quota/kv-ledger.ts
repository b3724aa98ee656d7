import { quotaBucketStream, quotaSubject } from '@gateway/shared/messaging/names';
import { WholeStreams } from '@gateway/shared/messaging/whole-streams';
import { errors } from '@nats-io/nats-core';
import { orAborted } from '../nats/abortable.ts';
import { jetStreamOver, type JetStreamCalls } from '../nats/jetstream-calls.ts';
import { isConflict, isFull } from '../nats/jetstream-errors.ts';
import type { NatsLink } from '../nats/nats-link.ts';
import {
  ANSWER_MS,
  ledgerEntrySchema,
  UnusableEntryError,
  WRITE_MS,
  type LedgerEntry,
  type LedgerKey,
  type LedgerState,
  type QuotaLedger,
  type WriteResult,
} from './ledger.ts';

/** The store of quotas cannot be asked now. */
export class LedgerAwayError extends Error {}

/**
 * The ledger in a KV bucket of NATS, by the stream under it: a write names the sequence that the key's
 * newest message must have, which the server decides; a read asks the stream's leader. Needs nothing
 * newer than nats-server 2.9. Calls end at once when the connection is lost.
 */
export class KvQuotaLedger implements QuotaLedger {
  epoch = 0;
  readonly #link: NatsLink;
  readonly #calls: () => JetStreamCalls | undefined;
  readonly #whole = new WholeStreams();
  #lost = new AbortController();

  constructor(link: NatsLink) {
    this.#link = link;
    this.#calls = jetStreamOver(link, ANSWER_MS);
    link.onChange(() => {
      if (link.connection !== undefined) return;
      this.epoch += 1;
      this.#whole.forget();
      this.#lost.abort(new LedgerAwayError('the connection to NATS was lost'));
      this.#lost = new AbortController();
    });
  }

  get reachable(): boolean {
    return this.#link.connection !== undefined;
  }

  async read(key: LedgerKey, withinMs = ANSWER_MS): Promise<LedgerState> {
    const { client, manager } = this.#open();
    const stream = quotaBucketStream(key.windowMs);
    const query = { last_by_subj: quotaSubject(key.windowMs, key.hash) };
    const asking = this.#whole
      .assure(client, stream, query.last_by_subj)
      .then(() => manager)
      .then((api) => api.streams.getMessage(stream, query));
    const over = AbortSignal.any([this.#lost.signal, AbortSignal.timeout(withinMs)]);
    const message = await orAborted(asking, over);
    if (message === null) return { entry: undefined, revision: 0 };
    // Decoded at each access. A key that was deleted has a message without a body.
    const { data } = message;
    return {
      entry: data.length === 0 ? undefined : parseEntry(data),
      revision: message.seq,
    };
  }

  async write(key: LedgerKey, entry: LedgerEntry, revision: number): Promise<WriteResult> {
    const { client } = this.#open();
    const writing = client.publish(quotaSubject(key.windowMs, key.hash), JSON.stringify(entry), {
      timeout: WRITE_MS,
      expect: { lastSubjectSequence: revision },
    });
    try {
      const { seq } = await orAborted(writing, this.#lost.signal);
      return { kind: 'written', revision: seq };
    } catch (error) {
      if (error instanceof errors.TimeoutError) return { kind: 'unknown' };
      if (isConflict(error)) return { kind: 'conflict' };
      if (isFull(error)) return { kind: 'full' };
      throw error;
    }
  }

  #open(): JetStreamCalls {
    const calls = this.#calls();
    if (calls === undefined) throw new LedgerAwayError('NATS is away');
    return calls;
  }
}

function parseEntry(data: Uint8Array): LedgerEntry {
  try {
    return ledgerEntrySchema.parse(JSON.parse(Buffer.from(data).toString('utf8')));
  } catch (cause) {
    throw new UnusableEntryError('what is stored for the key is no entry', { cause });
  }
}
