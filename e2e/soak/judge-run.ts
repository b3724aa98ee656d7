import { areHandlesBack, errorLines, findRecords, handlesAtRest } from './after-load.ts';
import type { SoakGateway } from './soak-gateway.ts';
import type { Outcomes } from './outcomes.ts';
import type { SoakOptions } from './options.ts';
import { figureTable, outcomeTable, type FigureRow } from './report.ts';
import { metricOf, metricsText, type Sample } from './process-samples.ts';
import { judge } from './growth.ts';

/** A run after its load. */
export interface SoakRun {
  readonly gateway: SoakGateway;
  readonly options: SoakOptions;
  readonly outcomes: Outcomes;
  /** Samples of each process, oldest first. */
  readonly samples: ReadonlyMap<string, readonly Sample[]>;
  /** The number of handles of each process before the load. */
  readonly atRest: ReadonlyMap<string, number>;
  readonly say: (line: string) => void;
}

/** Part of the run: after it, one-time allocations are made and bounded caches are full. */
const WARM_UP_SHARE = 0.25;
const SHOWN_IDS = 5;

/** Prints the results of the run as tables, and returns one text for each problem. */
export async function judgeRun(run: SoakRun): Promise<readonly string[]> {
  const { gateway, outcomes, say } = run;
  const faults = [...judgeFigures(run), ...(await judgeRest(run))];
  const records = await findRecords(gateway.stack.databaseUrl, outcomes.ids);
  say(
    `Records: ${outcomes.ids.size} requests seen by callers or upstreams, ` +
      `${records.missing.length} without a record; ` +
      `${records.stored} records stored, ${records.storedTwice} twice`,
  );
  if (records.missing.length > 0) {
    faults.push(`records are missing: ${records.missing.slice(0, SHOWN_IDS).join(', ')}`);
  }
  if (records.storedTwice > 0) faults.push('records were stored twice');
  for (const file of gateway.logFiles) {
    const { count, first } = await errorLines(file);
    if (count > 0) faults.push(`${count} lines of level error in a log:\n  ${first.join('\n  ')}`);
  }
  for (const [what, count] of outcomes.unexpected) faults.push(`unexpected: ${what} × ${count}`);
  return faults;
}

function judgeFigures({ options, outcomes, samples, say }: SoakRun): string[] {
  const faults: string[] = [];
  const rows: FigureRow[] = [];
  for (const [process, all] of samples) {
    // NATS keeps idempotency keys for 24 hours, so its memory grows by design; it is shown but not judged.
    const isJudged = process !== 'nats';
    for (const growth of judge(all, WARM_UP_SHARE * options.minutes * 60_000)) {
      rows.push({ process, isJudged, ...growth });
      if (isJudged && !growth.isFlat) faults.push(`${process}: ${growth.what} grows`);
    }
  }
  say(`\n${figureTable(rows)}\n\n${outcomeTable(outcomes)}\n`);
  return faults;
}

/** What the processes still hold after the load. */
async function judgeRest({ gateway, atRest, say }: SoakRun): Promise<string[]> {
  const faults: string[] = [];
  for (const watched of gateway.watched) {
    const before = atRest.get(watched.name) ?? 0;
    const after = await handlesAtRest(watched, before);
    say(`Handles of ${watched.name} at rest: ${before} before the load, ${after} after`);
    if (!areHandlesBack(before, after)) faults.push(`${watched.name}: handles left open`);
    if (watched.adminUrl === undefined) continue;
    const text = await metricsText(watched.adminUrl);
    const dropped = metricOf(text, 'gateway_records_dropped_total');
    if (dropped > 0) faults.push(`${watched.name}: ${dropped} records dropped`);
    const inFlight = metricOf(text, 'gateway_requests_in_flight');
    if (inFlight > 0) faults.push(`${watched.name}: ${inFlight} requests still in flight`);
  }
  return faults;
}
