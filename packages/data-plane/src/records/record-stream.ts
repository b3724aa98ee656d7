import { pause, type Clock } from '@gateway/shared/clock';
import type { RequestRecord } from '@gateway/shared/records/record';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { Registry } from 'prom-client';
import type { NatsLink } from '../nats/nats-link.ts';
import { createRecordBatcher, type RecordBatch } from './record-batcher.ts';
import { createRecordMetrics, type DropReason } from './record-metrics.ts';
import { createRecordPublisher, heldBytes } from './record-publisher.ts';
import { RecentBatches } from './recent-batches.ts';
import { createRecordStoreCheck } from './record-store-check.ts';
import { openSpool } from './spool.ts';

export interface RecordStreamOptions {
  readonly link: NatsLink;
  readonly dataPlaneId: string;
  /** Used by this data plane only. */
  readonly spoolDir: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
  /** Returns numbers in [0, 1). */
  readonly random: () => number;
  /** The memory for batches that NATS has not stored. */
  readonly maxMemoryBytes: number;
  /** The size of the spool. */
  readonly maxSpoolBytes: number;
  /** The size at which a spool file is closed; 4 MiB by default. */
  readonly segmentBytes?: number;
}

/** Sends request records to NATS. */
export interface RecordStream {
  /** Why records are dropped; undefined if none are, or if NATS has stored records since. */
  readonly problem: string | undefined;
  /** Adds the record of a finished request. Returns at once and never throws. */
  add(record: RequestRecord): void;
  /**
   * Sends the pending records and waits until NATS has stored them, for at most `deadlineMs` from now. The
   * rest is written to the spool, from which the next process sends it.
   */
  close(deadlineMs: number): Promise<void>;
}

const MIB = 1024 * 1024;
/** The memory for records that wait for a slow disk. */
const MAX_SPOOLING_BYTES = 8 * MIB;
/** Several times as long as a control plane takes to read a stored batch. */
const RECENT_MS = 5000;
const MAX_RECENT_BYTES = 4 * MIB;

/**
 * Creates a record stream. While NATS is unreachable or full, records are held in memory up to a limit, then on disk up
 * to a limit. Above both, new records are dropped and counted. A record is sent at least once: the last ones are sent
 * again if NATS was unreachable and returned without its data.
 */
export function createRecordStream(options: RecordStreamOptions): RecordStream {
  const { link, clock, log, maxMemoryBytes } = options;
  const spool = openSpool({
    dir: options.spoolDir,
    maxBytes: options.maxSpoolBytes,
    segmentBytes: options.segmentBytes ?? 4 * MIB,
    log,
  });
  /** Batches read from a spool file that still exists, with the callback for when they are sent. */
  const onDisk = new Map<RecordBatch, () => void>();
  const recent = new RecentBatches({ clock, keptMs: RECENT_MS, maxBytes: MAX_RECENT_BYTES });
  /** Batches of `recent` that are being sent again; they were counted as sent before. */
  const resent = new Set<RecordBatch>();
  const store = createRecordStoreCheck(link);
  /** Batches of `recent` of which it is not known yet whether NATS still has them. */
  const unchecked: RecordBatch[] = [];
  /** The newest sequence numbers in the record stream of the messages with these batches. */
  const newest = { recent: 0, unchecked: 0 };
  let spooling = { records: 0, bytes: 0 };
  let replaying = false;
  let dropping: DropReason | undefined;
  let closing: Promise<void> | undefined;

  const publisher = createRecordPublisher({
    link,
    dataPlaneId: options.dataPlaneId,
    clock,
    random: options.random,
    log,
    onSent(batch, tookMs, sequence) {
      recent.add(batch);
      newest.recent = Math.max(newest.recent, sequence);
      (resent.delete(batch) ? metrics.sentAgain : metrics.sent).inc(batch.records);
      metrics.publishSeconds.observe(tookMs / 1000);
      dropping = undefined;
      finished(batch);
      if (spool.bytes > 0) void replay();
    },
    onFailure: () => metrics.publishFailures.inc(),
    onTooLarge(batch) {
      resent.delete(batch);
      drop('too_large', batch.records);
      finished(batch);
    },
  });
  const batcher = createRecordBatcher(clock, {
    emit: take,
    tooLarge: () => {
      drop('too_large', 1);
    },
  });
  const metrics = createRecordMetrics(options.registry, {
    pendingRecords: () => batcher.records + publisher.records + spooling.records,
    spooledBytes: () => spool.bytes,
  });

  function drop(reason: DropReason, records: number): void {
    metrics.dropped.inc({ reason }, records);
    if (dropping !== undefined) return;
    dropping = reason;
    log.error({ reason }, 'request records dropped');
  }

  function take(batch: RecordBatch): void {
    if (publisher.bytes + heldBytes(batch) <= maxMemoryBytes) publisher.send(batch);
    else if (spooling.bytes + heldBytes(batch) <= MAX_SPOOLING_BYTES) void toSpool(batch);
    else drop('memory_full', batch.records);
  }

  async function toSpool(batch: RecordBatch): Promise<void> {
    const { records, bytes } = spooling;
    spooling = { records: records + batch.records, bytes: bytes + heldBytes(batch) };
    const result = await spool.append(batch);
    spooling = {
      records: spooling.records - batch.records,
      bytes: spooling.bytes - heldBytes(batch),
    };
    if (result !== 'spooled') drop(result, batch.records);
    void replay();
  }

  function finished(batch: RecordBatch): void {
    const done = onDisk.get(batch);
    onDisk.delete(batch);
    done?.();
  }

  /** Sends the spool, one file at a time, once NATS accepts records and memory has room for them. */
  async function replay(): Promise<void> {
    if (replaying || closing !== undefined || link.connection === undefined) return;
    if (publisher.failing || publisher.bytes > maxMemoryBytes / 2) return;
    replaying = true;
    try {
      const segment = await spool.take();
      if (segment === undefined || isClosing()) return;
      log.info({ batches: segment.batches.length }, 'sending records from the spool');
      await sendAll(segment.batches);
      await segment.remove();
    } finally {
      replaying = false;
    }
    void replay();
  }

  function isClosing(): boolean {
    return closing !== undefined;
  }

  function sendAll(batches: readonly RecordBatch[]): Promise<void> {
    return new Promise((resolve) => {
      let left = batches.length;
      for (const batch of batches) {
        onDisk.set(batch, () => {
          left -= 1;
          if (left === 0) resolve();
        });
        publisher.send(batch);
      }
    });
  }

  async function close(deadlineMs: number): Promise<void> {
    batcher.flush();
    sendAgain();
    const over = new AbortController();
    const stopListening = link.onChange(() => over.abort());
    // Without a connection no batch can be stored.
    if (link.connection === undefined) over.abort();
    await Promise.race([publisher.settled(), pause(clock, deadlineMs, over.signal)]);
    over.abort();
    stopListening();
    const rest = publisher.stop().filter((batch) => !onDisk.has(batch));
    await Promise.all(rest.map(toSpool));
    await spool.close();
    if (rest.length > 0) {
      log.warn({ batches: rest.length }, 'unsent records written to the spool');
    }
  }

  /** After a connect: sends the last batches again unless NATS still has them. */
  async function sendLost(): Promise<void> {
    const { losses } = link;
    unchecked.push(...recent.takeAll());
    newest.unchecked = Math.max(newest.unchecked, newest.recent);
    newest.recent = 0;
    const isKept = await store.isKept(newest.unchecked);
    // If the connection was lost again, the next connect decides.
    if (isClosing() || link.losses !== losses) return;
    if (!isKept) {
      sendAgain();
      return;
    }
    for (const batch of unchecked.splice(0)) recent.add(batch);
    newest.recent = Math.max(newest.recent, newest.unchecked);
    newest.unchecked = 0;
  }

  function sendAgain(): void {
    newest.unchecked = 0;
    for (const batch of unchecked.splice(0)) {
      resent.add(batch);
      publisher.send(batch);
    }
  }

  function linkChanged(): void {
    if (link.connection !== undefined) void sendLost();
    void replay();
  }

  const stopListening = link.onChange(linkChanged);
  linkChanged();

  return {
    get problem() {
      return dropping === undefined ? undefined : `request records are dropped: ${dropping}`;
    },
    add(record) {
      if (isClosing()) drop('closed', 1);
      else batcher.add(record);
    },
    close(deadlineMs) {
      stopListening();
      return (closing ??= close(deadlineMs));
    },
  };
}
