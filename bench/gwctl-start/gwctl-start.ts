import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { packNpmPackage } from '@gateway/tools/build/npm-packages';
import { command, whole } from '../command.ts';
import { pinSelf, splitCores } from '../lab/cores.ts';
import { log } from '../lab/log.ts';
import type { Run } from '../lab/run.ts';
import { median, medianInterval } from '../measure/statistics.ts';
import { formatRows } from '../report/table.ts';

const run = promisify(execFile);

/** The most CPU time of a start, as a multiple of that of Node alone. */
const MAX_RATIO = 2.5;

interface Subject {
  readonly name: string;
  /** Undefined: Node alone. */
  readonly args: readonly string[] | undefined;
  /** Whether it must be within the budget: a call loads the fetch of Node, which is not ours. */
  readonly isStart: boolean;
}

const SUBJECTS: readonly Subject[] = [
  { name: 'node -e 0', args: undefined, isStart: false },
  { name: 'gwctl --version', args: ['--version'], isStart: true },
  { name: 'gwctl help', args: ['help'], isStart: true },
  { name: 'gwctl routes list, without a context', args: ['routes', 'list'], isStart: true },
  { name: 'gwctl routes list, of no route', args: ['routes', 'list'], isStart: false },
];

/** Measures the CPU time of the packed gwctl, in turn with that of Node alone. Sets exit code 1 above the budget. */
export const gwctlStart = command({
  name: 'gwctl-start',
  summary: 'the CPU time in which the packed gwctl starts, beside that of Node alone',
  options: { rounds: whole(21, [6, 200], 'starts of each command line') },
  async run(bench, { rounds }) {
    const cores = splitCores();
    await pinSelf(String(cores.measured));
    bench.defer(() => pinSelf(cores.all.join(',')));
    const folder = await mkdtemp(path.join(tmpdir(), 'gwctl-start-'));
    bench.defer(() => rm(folder, { recursive: true }));
    const program = await install(folder);
    const url = await startEmptyApi(bench);
    const spent = SUBJECTS.map((): number[] => []);
    // The first round is the warm-up.
    for (let round = 0; round <= rounds; round += 1) {
      for (const [index, { args, isStart }] of SUBJECTS.entries()) {
        const line = args === undefined ? ['-e', '0'] : [program, ...args];
        const gateway = isStart ? {} : { GATEWAY_URL: url, GATEWAY_TOKEN: 'none' };
        const cpuMs = await cpuMsOf(line, { PATH: '/usr/bin:/bin', HOME: folder, ...gateway });
        if (round > 0) spent[index]?.push(cpuMs);
      }
      log(`${round}/${rounds}`);
    }
    report(spent);
  },
});

/** The path of the program in a package that is unpacked. */
async function install(folder: string): Promise<string> {
  const file = await packNpmPackage('gwctl', folder);
  await run('tar', ['-xzf', path.join(folder, file), '-C', folder]);
  return path.join(folder, 'package/bin/gwctl.mjs');
}

/** An API without resources. */
async function startEmptyApi(bench: Run): Promise<string> {
  const body = JSON.stringify({ data: [], next_cursor: null, request_id: 'req_1' });
  const server: Server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  bench.defer(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The CPU time of a process with its threads, ms, in user and kernel mode. `bash` reads it when the process has ended. */
async function cpuMsOf(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<number> {
  const script = 'TIMEFORMAT="%3U %3S"; time "$@" >/dev/null 2>&1';
  const all = ['-c', script, 'bash', process.execPath, ...args];
  // gwctl without a context ends with an error, after all that is measured.
  const ended = await run('bash', all, { env }).catch(
    (error: unknown) => error as { stderr: string },
  );
  const [user = NaN, system = NaN] = ended.stderr.trim().split(' ').map(Number);
  return (user + system) * 1000;
}

function report(spent: readonly (readonly number[])[]): void {
  const [base = []] = spent;
  const rows = SUBJECTS.map((subject, index) => {
    const times = spent[index] ?? [];
    return { ...subject, times, ratios: times.map((ms, round) => ms / (base[round] ?? NaN)) };
  });
  const table = formatRows(rows, {
    'command line': ({ name }) => name,
    'CPU ms': ({ times }) => median(times).toFixed(0),
    '× node -e 0': ({ ratios }) => median(ratios).toFixed(2),
    interval: ({ ratios }) =>
      medianInterval(ratios)
        .map((bound) => bound.toFixed(2))
        .join(' to '),
  });
  process.stdout.write(`${table}\n\nNode ${process.versions.node}, ${base.length} rounds\n`);
  const slow = rows.filter(({ isStart, ratios }) => isStart && median(ratios) > MAX_RATIO);
  for (const { name } of slow) log(`${name} takes more than ${MAX_RATIO} × node -e 0`);
  if (slow.length > 0) process.exitCode = 1;
}
