/**
 * Runs a mixed load against real processes for `--minutes` while the configuration changes. Then
 * checks that memory and handles did not grow and that every request has a record; exits with 1 if
 * not. Uses 127.0.0.1 only, and ends by itself. docs/run/reliability.md explains the results.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Callers } from './call.ts';
import { startChanges, type Changes } from './changes.ts';
import { startSoakGateway, type SoakGateway } from './soak-gateway.ts';
import { KINDS, type CallerEnvironment } from './call-kinds.ts';
import { Outcomes } from './outcomes.ts';
import { judgeRun } from './judge-run.ts';
import { parseOptions, type SoakOptions } from './options.ts';
import { startLoad } from './start-load.ts';
import { takeSample, type Sample } from './process-samples.ts';
import { keepWebSockets } from './websockets.ts';

const SAMPLE_EVERY_MS = 5000;
const PROGRESS_EVERY_SAMPLES = 12;

type Samples = ReadonlyMap<string, Sample[]>;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function sampleAll(gateway: SoakGateway, samples: Samples, atMs: number): Promise<void> {
  for (const watched of gateway.watched) {
    samples.get(watched.name)?.push(await takeSample(watched, atMs));
  }
}

/** Runs the load, and takes samples meanwhile. */
async function soak(
  gateway: SoakGateway,
  options: SoakOptions,
  outcomes: Outcomes,
  samples: Samples,
  interrupted: AbortSignal,
): Promise<Changes['counts']> {
  const { admin, upstreams, dataPlaneUrls, goodServiceId, changedRouteId } = gateway;
  const over = new AbortController();
  const upstreamUrl = upstreams.good;
  const changing = { admin, goodServiceId, changedRouteId, upstreamUrl, signal: over.signal };
  const changes = await startChanges(changing);
  const callers = new Callers();
  let turn = 0;
  const environment: CallerEnvironment = {
    callers,
    outcomes,
    base: () => dataPlaneUrls[(turn += 1) % dataPlaneUrls.length] ?? '',
    token: () => changes.token(),
  };
  // The token of the load was created just now.
  await delay(2000);
  const webSockets = keepWebSockets(environment, over.signal);
  const load = startLoad(KINDS, environment, options.callsPerSecond);
  const startedMs = performance.now();
  const endMs = startedMs + options.minutes * 60_000;
  const failed = changes.ended.then(() => new Promise<never>(() => undefined));
  try {
    for (let count = 1; performance.now() < endMs; count += 1) {
      interrupted.throwIfAborted();
      await Promise.race([delay(SAMPLE_EVERY_MS), failed]);
      for (const id of upstreams.takeSeen()) outcomes.ids.add(id);
      await sampleAll(gateway, samples, performance.now() - startedMs);
      if (count % PROGRESS_EVERY_SAMPLES === 0) say(progress(samples, outcomes));
    }
  } finally {
    over.abort();
    await load.stop();
    await webSockets;
    callers.close();
  }
  await changes.ended;
  for (const id of upstreams.takeSeen()) outcomes.ids.add(id);
  if (load.skippedCalls > 0)
    say(`Calls skipped because too many of their kind were in flight: ${load.skippedCalls}`);
  return changes.counts;
}

function progress(samples: Samples, outcomes: Outcomes): string {
  const each = [...samples].map(([name, all]) => {
    const { residentBytes = 0, handles = 0 } = all.at(-1) ?? {};
    return `${name} ${(residentBytes / 2 ** 20).toFixed(0)} MB ${handles} handles`;
  });
  return `${outcomes.calls} calls; ${each.join(', ')}`;
}

async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2));
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => interrupted.abort(new Error('interrupted')));
  }
  const gateway = await startSoakGateway(options.workers);
  try {
    const outcomes = new Outcomes();
    const samples = new Map(gateway.watched.map(({ name }) => [name, [] as Sample[]]));
    const atRest = new Map<string, number>();
    for (const watched of gateway.watched) {
      atRest.set(watched.name, (await takeSample(watched, 0)).handles);
    }
    const counts = await soak(gateway, options, outcomes, samples, interrupted.signal);
    say(
      `\n${options.minutes} minutes at ${options.callsPerSecond} calls a second: ${outcomes.calls} calls, ` +
        `${counts.changes} changes of configuration, ${counts.rotations} rotations of the token in use`,
    );
    const faults = await judgeRun({ gateway, options, outcomes, samples, atRest, say });
    for (const fault of faults) say(`FAULT ${fault}`);
    say(faults.length === 0 ? 'soak: passed' : `soak: failed, ${faults.length} faults`);
    if (faults.length > 0) process.exitCode = 1;
  } finally {
    await gateway.close();
  }
}

try {
  await main();
} catch (error) {
  process.stderr.write(`soak: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
