/**
 * `npm run test:faults -- [--seconds=60] [--suite='stopped stores'] [--only=NATS]`: runs each fault for that time and prints the table of the results. A run of full length writes
 * its rows into docs/run/reliability.md. Exits with 1 if an expectation failed.
 */
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { chooseNatsServer } from '@gateway/testing/nats-release';
import { writeSection } from '../../bench/report/document.ts';
import { formatFaultTable, mergeFaultTable } from './harness/fault-table.ts';
import type { FaultResult } from './harness/scenario.ts';
import { SUITES } from './suites.ts';

const document = new URL('../../docs/run/reliability.md', import.meta.url);
const FULL_SECONDS = 60;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: String(FULL_SECONDS) },
    suite: { type: 'string', default: '' },
    only: { type: 'string', default: '' },
  },
});
const seconds = Number(values.seconds);
if (!(seconds > 0)) throw new Error('--seconds must be a number above 0');

await chooseNatsServer();

const results: FaultResult[] = [];
function over(result: FaultResult): void {
  results.push(result);
  const { row, problems } = result;
  const held = problems.length === 0 ? 'as promised' : 'NOT as promised';
  process.stdout.write(`${row.fault}: ${held}\n`);
  for (const problem of problems) process.stdout.write(`  ${problem}\n`);
}

for (const suite of SUITES.filter(({ name }) => name.includes(values.suite))) {
  await suite.run(seconds * 1000, (fault) => fault.includes(values.only), over);
}
const rows = results.map(({ row }) => row);
process.stdout.write(`\n${formatFaultTable(rows)}\n`);
if (seconds >= FULL_SECONDS && rows.length > 0) {
  const [, behind = ''] = (await readFile(document, 'utf8')).split('<!-- begin faults -->');
  const [before = ''] = behind.split('<!-- end faults -->');
  const order = SUITES.flatMap(({ faults }) => faults);
  await writeSection(document, 'faults', mergeFaultTable(before, rows, order));
}
if (results.some(({ problems }) => problems.length > 0)) process.exitCode = 1;
