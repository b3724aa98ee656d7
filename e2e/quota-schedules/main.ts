/**
 * `npm run test:quotas -- [--runs=20] [--seed=1] [--only='NATS killed']`: runs random schedules of faults, this many
 * of each kind, and counts what each window of a quota grants. Exits with 1 if one granted more than its limit.
 */
import { parseArgs } from 'node:util';
import { chooseNatsServer } from '@gateway/testing/nats-release';
import { formatRuns, windowsLine, windowsOver, type RunResult } from './report.ts';
import { startScheduleRunner } from './run-schedule.ts';
import { KINDS, needsCluster, randomSchedules, type Schedule } from './schedule.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
  },
});
const count = Number(values.runs);
const seed = Number(values.seed);
if (!Number.isInteger(count) || count < 1) throw new Error('--runs must be a whole number above 0');
if (!Number.isInteger(seed)) throw new Error('--seed must be a whole number');

const say = (line: string) => process.stdout.write(`${line}\n`);
const schedules = KINDS.filter((kind) => kind.includes(values.only)).flatMap((kind) =>
  randomSchedules(kind, count, seed),
);
await chooseNatsServer();

const results: RunResult[] = [];
for (const clustered of [false, true]) {
  await runAll(
    schedules.filter(({ kind }) => needsCluster(kind) === clustered),
    clustered,
  );
}

async function runAll(wanted: readonly Schedule[], clustered: boolean): Promise<void> {
  if (wanted.length === 0) return;
  const runner = await startScheduleRunner(clustered);
  try {
    for (const schedule of wanted) {
      const windows = await runner.run(schedule);
      results.push({ kind: schedule.kind, windows });
      const over = windowsOver(windows).length > 0 ? 'OVER THE LIMIT' : 'held';
      say(`${schedule.kind}: ${over}: ${windowsLine(windows)}`);
      say(`  ${JSON.stringify(schedule)}`);
    }
  } finally {
    await runner.close();
  }
}
say(`\n${formatRuns(results)}`);
if (results.some(({ windows }) => windowsOver(windows).length > 0)) process.exitCode = 1;
