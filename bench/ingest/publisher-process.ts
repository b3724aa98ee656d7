/**
 * Sends records as several data planes would, in a process of its own, so that its cost does not count as what is
 * measured. The only argument is the order as JSON. In every tick it reports its counts to its parent. It ends when all
 * is sent, or when the channel to its parent closes.
 */
import { createRecordBatcher } from '@gateway/data-plane/records/record-batcher';
import { linkNats } from '@gateway/data-plane/nats/nats-link';
import { createRecordPublisher } from '@gateway/data-plane/records/record-publisher';
import { systemClock as clock } from '@gateway/shared/clock';
import { connectNats } from '@gateway/shared/messaging/connection';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { createRecordMaker } from '../load/record-maker.ts';

export interface PublisherOrder {
  readonly natsUrl: string;
  readonly dataPlanes: number;
  readonly recordsPerSecond: number;
  /** How long records are made. Records not yet sent by then are sent before the process ends. */
  readonly seconds: number;
}

export interface PublisherReport {
  readonly made: number;
  /** Of the JSON of the records made. */
  readonly bytes: number;
  /** Records that the stream has acknowledged. */
  readonly sent: number;
  readonly messages: number;
  readonly failures: number;
}

const TICK_MS = 10;
/** Records made but not acknowledged. At this limit making pauses, because a data plane's memory is bounded too. */
const MAX_PENDING = 200_000;
const SETTLE_MS = 20_000;

const order = JSON.parse(process.argv[2] ?? '') as PublisherOrder;
const log = createLogger('publisher', 'error');
const signal = AbortSignal.timeout(10_000);
const report = { made: 0, bytes: 0, sent: 0, messages: 0, failures: 0 };

const planes = Array.from({ length: order.dataPlanes }, (_, index) => {
  const dataPlaneId = `data-plane-${index + 1}`;
  const connecting = connectNats({ url: order.natsUrl, name: dataPlaneId, log, clock, signal });
  const publisher = createRecordPublisher({
    link: linkNats(connecting, log),
    dataPlaneId,
    clock,
    random: Math.random,
    log,
    onSent: (batch) => {
      report.sent += batch.records;
      report.messages += 1;
    },
    onFailure: () => (report.failures += 1),
    onTooLarge: () => (report.failures += 1),
  });
  const batcher = createRecordBatcher(clock, {
    emit(batch) {
      report.bytes += batch.body.length;
      publisher.send(batch);
    },
    tooLarge: () => (report.failures += 1),
  });
  return { connecting, publisher, batcher };
});
await Promise.all(planes.map(({ connecting }) => connecting));
const maker = createRecordMaker('data-plane-1', () => clock.nowMs());

process.on('disconnect', () => process.exit(0));
const startedMs = clock.monotonicMs();
const endMs = startedMs + order.seconds * 1000;
let turn = 0;

function makeDue(): void {
  const nowMs = Math.min(clock.monotonicMs(), endMs);
  const due = Math.floor(((nowMs - startedMs) * order.recordsPerSecond) / 1000);
  while (report.made < due && report.made - report.sent < MAX_PENDING) {
    planes[turn]?.batcher.add(maker.make());
    turn = (turn + 1) % planes.length;
    report.made += 1;
  }
  process.send?.(report);
}

const ticking = setInterval(makeDue, TICK_MS);
setTimeout(() => {
  clearInterval(ticking);
  makeDue();
  for (const { batcher } of planes) batcher.flush();
  void Promise.all(planes.map(({ publisher }) => publisher.settled())).then(() => {
    process.send?.(report, () => process.exit(0));
  });
}, order.seconds * 1000);
setTimeout(() => process.exit(1), order.seconds * 1000 + SETTLE_MS).unref();
