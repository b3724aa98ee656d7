import { backOffMs, type Clock, type Timer } from '@gateway/shared/clock';
import { NAMES, recordSubject } from '@gateway/shared/messaging/names';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { NatsConnection } from '@nats-io/nats-core';
import type { JetStream, NatsLink } from '../nats/nats-link.ts';
import type { RecordBatch } from './record-batcher.ts';

export interface RecordPublisherOptions {
  readonly link: NatsLink;
  readonly dataPlaneId: string;
  readonly clock: Clock;
  /** Returns numbers in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
  /**
   * NATS has stored the batch, as the message with this sequence number in the stream; `tookMs` is the duration of the
   * attempt that succeeded.
   */
  readonly onSent: (batch: RecordBatch, tookMs: number, sequence: number) => void;
  readonly onFailure: () => void;
  /** The batch exceeds the largest message of the server. It is not held any more. */
  readonly onTooLarge: (batch: RecordBatch) => void;
}

/** Holds batches until NATS has stored them. Their order may change, because readers identify records by their ids. */
export interface RecordPublisher {
  /** The number of records held. */
  readonly records: number;
  /** The memory of the batches held, bytes. */
  readonly bytes: number;
  /** Whether the last attempt failed. */
  readonly failing: boolean;
  /** Takes a batch and sends it until NATS has stored it. */
  send(batch: RecordBatch): void;
  /** Resolves when no batch is held. */
  settled(): Promise<unknown>;
  /** Stops sending and returns the batches that are not known to be stored. */
  stop(): RecordBatch[];
}

const PUBLISH_TIMEOUT_MS = 5000;
const MAX_IN_FLIGHT = 8;
/** The size of subject and headers, which count towards the largest message of the server. */
const MESSAGE_OVERHEAD_BYTES = 1024;
/** The memory of a batch in addition to its body. */
const BATCH_OVERHEAD_BYTES = 512;
const BACK_OFF = { firstMs: 100, maxMs: 5000 };
const LOG_EVERY_FAILURES = 20;

/** The memory of a batch, bytes. */
export function heldBytes(batch: RecordBatch): number {
  return batch.body.length + BATCH_OVERHEAD_BYTES;
}

/** Creates a publisher of record batches. */
export function createRecordPublisher(options: RecordPublisherOptions): RecordPublisher {
  const { link, clock, log } = options;
  const subject = recordSubject(options.dataPlaneId);
  const held = new Set<RecordBatch>();
  /** In the order of sending; a subset of `held`, as is `inFlight`. */
  const waiting = new Set<RecordBatch>();
  /** Each batch with its newest attempt: a batch may be sent again before an older attempt has ended. */
  const inFlight = new Map<RecordBatch, symbol>();
  let idle = Promise.withResolvers<unknown>();
  let records = 0;
  let bytes = 0;
  let failures = 0;
  let backOff: Timer | undefined;
  let stopped = false;

  function pump(): void {
    const { connection, jetstream } = link;
    if (connection === undefined || jetstream === undefined) return;
    if (backOff !== undefined || stopped) return;
    // After a failure a single batch tests whether NATS accepts records again.
    const window = failures === 0 ? MAX_IN_FLIGHT : 1;
    for (const batch of waiting) {
      if (inFlight.size >= window) return;
      waiting.delete(batch);
      const attempt = Symbol(batch.id);
      inFlight.set(batch, attempt);
      void publish(batch, attempt, connection, jetstream);
    }
  }

  async function publish(
    batch: RecordBatch,
    attempt: symbol,
    connection: NatsConnection,
    { client }: JetStream,
  ): Promise<void> {
    const startedMs = clock.monotonicMs();
    const limit = connection.info?.max_payload ?? Infinity;
    if (batch.body.length + MESSAGE_OVERHEAD_BYTES > limit) {
      log.error(
        { bytes: batch.body.length, limit },
        'record batch exceeds the largest message of the NATS server',
      );
      if (release(batch)) options.onTooLarge(batch);
      pump();
      return;
    }
    let sequence: number;
    try {
      const stored = await client.publish(subject, batch.body, {
        msgID: batch.id,
        timeout: PUBLISH_TIMEOUT_MS,
        expect: { streamName: NAMES.recordStream },
      });
      sequence = stored.seq;
    } catch (error) {
      failed(batch, attempt, error);
      return;
    }
    if (failures > 0) log.info('record publish succeeds again');
    failures = 0;
    if (release(batch)) options.onSent(batch, clock.monotonicMs() - startedMs, sequence);
    pump();
  }

  function failed(batch: RecordBatch, attempt: symbol, error: unknown): void {
    if (inFlight.get(batch) !== attempt) return;
    inFlight.delete(batch);
    waiting.add(batch);
    options.onFailure();
    if (failures % LOG_EVERY_FAILURES === 0) {
      log.warn({ reason: String(error) }, 'record publish failed; retrying');
    }
    failures += 1;
    backOff?.cancel();
    backOff = clock.setTimer(backOffMs(failures, BACK_OFF, options.random()), resume);
  }

  function resume(): void {
    backOff?.cancel();
    backOff = undefined;
    pump();
  }

  /** Returns false if the batch was no longer held. */
  function release(batch: RecordBatch): boolean {
    inFlight.delete(batch);
    waiting.delete(batch);
    if (!held.delete(batch)) return false;
    records -= batch.records;
    bytes -= heldBytes(batch);
    if (held.size === 0) idle.resolve(undefined);
    return true;
  }

  const stopListening = link.onChange(() => {
    if (link.connection !== undefined) {
      resume();
      return;
    }
    // Their answers are lost. Waiting for the timeouts would cost seconds after a short disconnect.
    for (const batch of inFlight.keys()) waiting.add(batch);
    inFlight.clear();
  });

  return {
    get records() {
      return records;
    },
    get bytes() {
      return bytes;
    },
    get failing() {
      return failures > 0;
    },
    send(batch) {
      if (held.size === 0) idle = Promise.withResolvers<unknown>();
      held.add(batch);
      waiting.add(batch);
      records += batch.records;
      bytes += heldBytes(batch);
      pump();
    },
    settled: () => (held.size === 0 ? Promise.resolve() : idle.promise),
    stop() {
      stopped = true;
      stopListening();
      backOff?.cancel();
      const rest = [...held];
      for (const batch of rest) release(batch);
      return rest;
    },
  };
}
