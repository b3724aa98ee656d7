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
  /** Records a second. */
  readonly rate: number;
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

const {
  natsUrl: url,
  dataPlanes,
  rate,
  seconds,
} = JSON.parse(process.argv[2] ?? '') as PublisherOrder;
const log = createLogger('publisher', 'error');
const report = { made: 0, bytes: 0, sent: 0, messages: 0, failures: 0 };
const fail = () => (report.failures += 1);

const planes = await Promise.all(
  Array.from({ length: dataPlanes }, async (_, index) => {
    const dataPlaneId = `data-plane-${index + 1}`;
    const signal = AbortSignal.timeout(10_000);
    const connecting = connectNats({ url, name: dataPlaneId, log, clock, signal });
    const publisher = createRecordPublisher({
      link: linkNats(connecting, log),
      dataPlaneId,
      clock,
      random: Math.random,
      log,
      onSent: ({ records }) => {
        report.sent += records;
        report.messages += 1;
      },
      onFailure: fail,
      onTooLarge: fail,
    });
    const batcher = createRecordBatcher(clock, {
      emit(batch) {
        report.bytes += batch.body.length;
        publisher.send(batch);
      },
      tooLarge: fail,
    });
    await connecting;
    return { publisher, batcher };
  }),
);
const maker = createRecordMaker('data-plane-1', () => clock.nowMs());

process.on('disconnect', () => process.exit(0));
const startedMs = clock.monotonicMs();

function makeDue(): void {
  const elapsedMs = Math.min(clock.monotonicMs() - startedMs, seconds * 1000);
  const due = Math.floor((elapsedMs * rate) / 1000);
  while (report.made < due && report.made - report.sent < MAX_PENDING) {
    planes[report.made % planes.length]?.batcher.add(maker.make());
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
}, seconds * 1000);
setTimeout(() => process.exit(1), seconds * 1000 + SETTLE_MS).unref();
