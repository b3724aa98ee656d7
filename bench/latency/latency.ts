import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { command, whole } from '../command.ts';
import { startLab } from '../lab/lab.ts';
import { giveLargeShare, shareSentence } from '../lab/priority.ts';
import type { Measured } from '../load/paced/load-process.ts';
import { startPacedLoad } from '../load/paced/paced-load.ts';
import { runWrk, type Target } from '../load/wrk.ts';
import { startGateway } from '../peers/gateway.ts';
import { nginx } from '../peers/servers.ts';
import { log } from '../lab/log.ts';
import { formatRows } from '../report/table.ts';
import { longestOf, readPauses, type Longest, type Span } from './pauses.ts';

const WARM_UP_SECONDS = 8;
const SATURATION_SECONDS = 3;
const TURN_SECONDS = { nginx: 15, gateway: 60 };
/**
 * After a turn of the other, a process waits for pages that the host of a virtual machine has taken back: the event loop
 * was delayed by up to 26 ms in the first seconds, and by 1 to 6 ms later.
 */
const UNCOUNTED_SECONDS = 10;
/** Requests are due in groups this far apart. */
const TICK_MS = 0.25;
/** Longer delays of the event loop are printed one by one. */
const REPORTED_MS = 15;
const MAX_P99_RATIO = 2;
const MAX_PAUSE_MS = 20;

type Name = keyof typeof TURN_SECONDS;
type Both = Readonly<Record<Name, Measured>>;

/**
 * Sends the gateway and nginx, in turn, the same constant rate, and compares their latencies. Sets exit code 1 if the
 * gateway's p99 is more than twice nginx's or its process paused for more than 20 ms.
 */
export const latency = command({
  name: 'latency',
  summary: 'latency and pauses under a constant rate, beside nginx',
  options: {
    minutes: whole(10, [1, 60], 'load on the gateway; nginx gets a quarter of that'),
    load: whole(70, [1, 95], 'per cent of its own saturation'),
  },
  async run(run, { minutes, load: share }) {
    const lab = await startLab(run);
    const { signal } = lab;
    const pausesFile = path.join(lab.folder, 'pauses.jsonl');
    const monitor = fileURLToPath(new URL('pause-monitor.ts', import.meta.url));
    const peers = {
      nginx: await nginx().start(lab),
      gateway: await startGateway(lab, {
        nodeArgs: ['--import', monitor],
        settings: () => ({ PAUSES_FILE: pausesFile }),
      }),
    };
    // This process stands for its session, to which the processes of the load belong.
    const { helperPid = peers.gateway.pid } = peers.gateway;
    const pids = [lab.upstreamPid, peers.nginx.pid, peers.gateway.pid, helperPid];
    const hasLargeShare = await giveLargeShare([process.pid, ...pids]);
    for (const peer of Object.values(peers))
      await runWrk(peer, { seconds: WARM_UP_SECONDS }, signal);
    const full = await runWrk(peers.gateway, { seconds: SATURATION_SECONDS }, signal);
    const saturation = (full.units * 1e6) / full.durationUs;
    const perSecond = Math.round((saturation * share) / 100);
    log(`saturation: ${saturation.toFixed(0)}/s; load: ${perSecond}/s`);
    const startLoad = ({ url, authorization }: Target) =>
      startPacedLoad(lab, { urls: [url], authorization, tickMs: TICK_MS });
    const loads = {
      nginx: await startLoad(peers.nginx),
      gateway: await startLoad(peers.gateway),
    };
    const spans: Span[] = [];
    const turns = Math.ceil((minutes * 60) / TURN_SECONDS.gateway);
    const take = async (name: Name, turn: number): Promise<Measured> => {
      const fromMs = Date.now() + UNCOUNTED_SECONDS * 1000;
      const timing = { warmUpSeconds: UNCOUNTED_SECONDS, seconds: TURN_SECONDS[name] };
      const measured = await loads[name].run({ perSecond, ...timing, adds: turn > 1 });
      if (name === 'gateway') spans.push({ fromMs, toMs: Date.now() });
      log(`${name}, turn ${turn} of ${turns}: p99 ${measured.p99Ms.toFixed(2)} ms`);
      return measured;
    };
    const both = async (turn: number): Promise<Both> => ({
      nginx: await take('nginx', turn),
      gateway: await take('gateway', turn),
    });
    let measured = await both(1);
    for (let turn = 2; turn <= turns; turn += 1) measured = await both(turn);
    const pauses = await readPauses(pausesFile, spans);
    for (const { atMs, delayMs, collectionMs, waitedMs } of pauses) {
      if (delayMs < REPORTED_MS) continue;
      log(
        `${new Date(atMs).toISOString()}: event loop delayed by ${delayMs.toFixed(1)} ms, garbage collection ` +
          `${collectionMs.toFixed(1)} ms, waited for the core ${waitedMs.toFixed(1)} ms`,
      );
    }
    const longest = longestOf(pauses);
    const verdict = judge(measured, longest);
    if (!verdict.isKept) process.exitCode = 1;
    const table = formatRows(Object.entries(measured), {
      proxy: ([name]) => name,
      requests: ([, { requests }]) => String(requests),
      failed: ([, { failed }]) => String(failed),
      'p50 ms': ([, { p50Ms }]) => p50Ms.toFixed(2),
      'p99 ms': ([, { p99Ms }]) => p99Ms.toFixed(2),
      'p99.9 ms': ([, { p999Ms }]) => p999Ms.toFixed(2),
      'max ms': ([, { maxMs }]) => maxMs.toFixed(2),
    });
    process.stdout.write(
      `${table}\n\n${perSecond} requests/s, ${share} % of the gateway's saturation, for ${minutes} minutes in turns of ` +
        `${TURN_SECONDS.gateway} s; nginx gets turns of ${TURN_SECONDS.nginx} s in between.\n\n` +
        `Longest delay of the data plane's event loop: ${longest.delayMs.toFixed(1)} ms, of which ` +
        `${longest.ownDelayMs.toFixed(1)} ms while it had its core; longest garbage collection: ` +
        `${longest.collectionMs.toFixed(1)} ms. ${shareSentence(hasLargeShare)}\n\n${verdict.text}\n`,
    );
  },
});

/** Compares a run with what must hold. Failed requests have no latency, so any of them breaks it. */
export function judge(
  { nginx: reference, gateway }: Both,
  { ownDelayMs }: Longest,
): { readonly isKept: boolean; readonly text: string } {
  const ratio = gateway.p99Ms / reference.p99Ms;
  const failed = gateway.failed + reference.failed;
  const isKept = ratio <= MAX_P99_RATIO && ownDelayMs <= MAX_PAUSE_MS && failed === 0;
  const text =
    `The gateway's p99 is ${ratio.toFixed(2)} × nginx's (goal: at most ${MAX_P99_RATIO}); its longest pause is ` +
    `${ownDelayMs.toFixed(1)} ms (goal: at most ${MAX_PAUSE_MS}).`;
  return { isKept, text };
}
