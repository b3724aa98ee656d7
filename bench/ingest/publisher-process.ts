/**
 * Data planes that do nothing but send records, in one process of their own, so that what they cost is
 * told apart from what is measured. Its one argument is the order as JSON. Each tick it tells its parent
 * how many records the stream has taken. It ends when its time is over, or the channel to its parent does.
 */
import { createRecordBatcher } from '@gateway/data-plane/records/record-batcher';
import { linkNats } from '@gateway/data-plane/nats/nats-link';
import { createRecordPublisher } from '@gateway/data-plane/records/record-publisher';
import { systemClock as clock } from '@gateway/shared/clock';
import { connectNats } from '@gateway/shared/messaging/connection';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { createRecordMaker } from './record-maker.ts';

export interface PublisherOrder {
  readonly natsUrl: string;
  readonly dataPlanes: number;
  readonly recordsPerSecond: number;
  /** For how long records are made; what is not sent by then is sent before the process ends. */
  readonly seconds: number;
}

export interface PublisherReport {
  /** Records made, and of these what the stream has acknowledged. */
  readonly made: number;
  /** Of the JSON of those made. */
  readonly bytes: number;
  readonly sent: number;
  readonly messages: number;
  readonly failures: number;
}

const TICK_MS = 10;
/** What waits to be sent; past it making pauses, as a data plane's memory is bounded too. */
const MAX_WAITING = 200_000;
const SETTLE_MS = 20_000;

const order = JSON.parse(process.argv[2] ?? '') as PublisherOrder;
const log = createLogger('publisher', 'error');
const signal = AbortSignal.timeout(10_000);
const report = { made: 0, bytes: 0, sent: 0, messages: 0, failures: 0 };

const planes = Array.from({ length: order.dataPlanes }, (_, index) => {
  const dataPlaneId = `data-plane-${index + 1}`;
  const connecting = connectNats({ url: order.natsUrl, name: dataPlaneId, log, clock, signal });
  const publisher = createRecordPublisher({
    ...{ link: linkNats(connecting, log), dataPlaneId, clock, random: Math.random, log },
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
  while (report.made < due && report.made - report.sent < MAX_WAITING) {
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
