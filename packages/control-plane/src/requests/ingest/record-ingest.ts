import { pause, type Clock } from '@gateway/shared/clock';
import { NAMES } from '@gateway/shared/messaging/names';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { jetstream, type ConsumerMessages, type JsMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core';
import type { RecordDocuments } from '../record-document.ts';
import type { Database } from '../../store/database.ts';
import { readBatches } from './batch-reader.ts';
import { forEachConcurrently } from './for-each-concurrently.ts';
import type { IngestMetrics } from './ingest-metrics.ts';
import { parseBatch, type ParsedBatch } from './storable-record.ts';
import { storeBatch } from './store-batch.ts';
import { watchSequences } from './watch-sequences.ts';
import type { TokenUses } from '../../access/token-uses.ts';

const BOUNDS = { maxWeight: 2000, idleMs: 20, maxWaitMs: 100 };
/** While Postgres stores one batch, the next one is read and parsed. */
const MAX_PARALLEL_INSERTS = 2;

/** The largest number of messages in the client's buffer; each is at most 1 MiB. */
const MAX_MESSAGES = 64;
const CALL_TIMEOUT_MS = 2000;
const PULL_EXPIRES_MS = 10_000;
/** After two missed ones the client checks that the consumer exists. */
const HEARTBEAT_MS = 2000;
const FIRST_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 5000;

export interface RecordIngestOptions {
  readonly db: Database;
  readonly connection: NatsConnection;
  /** Creates the stream and the consumer if they are missing, such as after NATS lost its data. */
  readonly prepare: () => Promise<void>;
  /** A message that is not acknowledged in this time is delivered again, ms. */
  readonly ackWaitMs: number;
  /** The form in which records are stored. */
  readonly documents: RecordDocuments;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: IngestMetrics;
  readonly tokenUses: Pick<TokenUses, 'note'>;
}

export interface RecordIngest {
  /** Stores the received records, then ends. */
  stop(): Promise<void>;
}

interface Received {
  readonly message: JsMsg;
  readonly batch: ParsedBatch;
}

/**
 * Moves request records from the stream to Postgres. All control planes share one durable consumer, so each
 * message goes to one of them. It is acknowledged after the commit and delivered again until then; a
 * duplicate is stored once. The time until then is short, because NATS may lose a message on its way here. While Postgres
 * is slow, the ingest tells NATS that it still works on the message.
 */
export function startRecordIngest(options: RecordIngestOptions): RecordIngest {
  const { connection, clock, log, metrics } = options;
  const client = jetstream(connection, { timeout: CALL_TIMEOUT_MS });
  const stopping = new AbortController();
  /** Received, and neither acknowledged nor given back. */
  const unsettled = new Set<JsMsg>();
  let messages: ConsumerMessages | undefined;
  const reading = {
    failures: 0,
    problem: 'record stream read failed; retrying',
  };
  const storing = {
    failures: 0,
    problem: 'record insert failed; records stay in the stream; retrying',
  };

  const isStopping = () => stopping.signal.aborted;

  async function run(): Promise<void> {
    while (!isStopping()) {
      try {
        await consume();
      } catch (error) {
        if (isStopping()) return;
        await backOff(reading, error);
      }
    }
  }

  async function consume(): Promise<void> {
    // What was read before, and is not stored, must be delivered again.
    unsettled.clear();
    await options.prepare();
    const consumer = await client.consumers.get(NAMES.recordStream, NAMES.recordConsumer);
    messages = await consumer.consume({
      max_messages: MAX_MESSAGES,
      expires: PULL_EXPIRES_MS,
      idle_heartbeat: HEARTBEAT_MS,
      abort_on_missing_resource: true,
    });
    if (isStopping()) messages.stop();
    if (reading.failures > 0) log.info('record stream read again');
    reading.failures = 0;
    const weightOf = (item: Received) => item.batch.records.length;
    const batches = readBatches(received(messages), weightOf, BOUNDS, clock);
    await forEachConcurrently(batches, MAX_PARALLEL_INSERTS, async (items) => {
      await store(items);
      // While Postgres is unavailable a stop does not wait: another control plane gets these messages.
      return !(isStopping() && storing.failures > 0);
    });
  }

  async function* received(from: AsyncIterable<JsMsg>): AsyncGenerator<Received> {
    for await (const message of from) {
      if (message.redelivered) metrics.redelivered.inc();
      const batch = parseBatch(message.string(), clock.nowMs(), options.documents);
      if (batch === undefined) {
        metrics.poison.inc();
        log.error(
          { subject: message.subject, bytes: message.data.length },
          'malformed record batch skipped',
        );
        message.term();
        continue;
      }
      unsettled.add(message);
      yield { message, batch };
    }
  }

  async function store(items: readonly Received[]): Promise<void> {
    const records = items.flatMap((item) => item.batch.records);
    const places = items.flatMap((item) => item.batch.place ?? []);
    const startedMs = clock.monotonicMs();
    try {
      const { inserted, refusedIds } = await storeBatch(options.db, records, places);
      for (const { message, batch } of items) {
        for (const [tokenId, atMs] of batch.tokenUses) options.tokenUses.note(tokenId, atMs);
        message.ack();
        countRefused(message.subject, batch.refused);
      }
      metrics.duration.observe((clock.monotonicMs() - startedMs) / 1000);
      metrics.batchRecords.observe(records.length);
      metrics.records.inc(inserted);
      metrics.duplicates.inc(records.length - inserted - refusedIds.length);
      metrics.poison.inc(refusedIds.length);
      if (refusedIds.length > 0)
        log.error({ ids: refusedIds }, 'request records rejected by Postgres');
      if (storing.failures > 0) log.info('record insert succeeded again');
      storing.failures = 0;
    } catch (error) {
      metrics.failures.inc();
      for (const { message } of items) {
        message.nak(backOffMs(storing.failures));
        unsettled.delete(message);
      }
      await backOff(storing, error);
    } finally {
      for (const { message } of items) unsettled.delete(message);
    }
  }

  /** Call it after the acknowledgement: a message that is delivered again would be counted twice. */
  function countRefused(subject: string, count: number): void {
    if (count === 0) return;
    metrics.poison.inc(count);
    log.error({ subject, count }, 'malformed request records skipped');
  }

  async function backOff(part: { failures: number; problem: string }, error: unknown) {
    // Only the message: the details of a Postgres error may contain a row.
    if (part.failures === 0) log.warn({ reason: String(error) }, part.problem);
    const delayMs = backOffMs(part.failures);
    part.failures += 1;
    await pause(clock, delayMs, stopping.signal);
  }

  /** A reconnection ends the pulls, and the consumer may be gone. */
  async function restartOnReconnect(): Promise<void> {
    for await (const status of connection.status()) {
      if (status.type === 'reconnect') messages?.stop();
    }
  }

  /** NATS waits for the messages that were received, however long Postgres takes. */
  async function keepWaiting(): Promise<void> {
    while (!isStopping()) {
      await pause(clock, options.ackWaitMs / 3, stopping.signal);
      for (const message of unsettled) message.working();
    }
  }

  void restartOnReconnect();
  void keepWaiting();
  void watchSequences(options, stopping.signal);
  const ended = run();
  return {
    stop: () => {
      stopping.abort();
      messages?.stop();
      return ended;
    },
  };
}

function backOffMs(failures: number): number {
  return Math.min(FIRST_BACKOFF_MS * 2 ** failures, MAX_BACKOFF_MS);
}
