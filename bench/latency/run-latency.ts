import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLab, type Lab } from '../lab/lab.ts';
import { giveLargeShare } from '../lab/priority.ts';
import { runRound } from '../measure/round.ts';
import { startGateway } from '../peers/gateway.ts';
import { nginx } from '../peers/nginx-and-haproxy.ts';
import type { Peer } from '../peers/peer.ts';
import { BENCHMARKS, writeSection } from '../report/document.ts';
import { log } from '../report/log.ts';
import type { Measured } from './load-process.ts';
import { startPacedLoad, type PacedLoad } from './paced-load.ts';
import { longestOf, readPauses, type Longest, type Span } from './read-pauses.ts';
import { formatLatency, judge } from './verdict.ts';

/** What `npm run bench -- latency` is given. */
export interface LatencyOptions {
  /** Load on the gateway; nginx gets a quarter of that. */
  readonly minutes: number;
  /** Share of the gateway's own saturation, per cent. */
  readonly load: number;
  /** Whether the table goes into the document too. */
  readonly write: boolean;
}

const START_MS = 120_000;
const CONNECTIONS = 32;
const WARM_UP_SECONDS = 8;
const SATURATION_SECONDS = 3;
const TURN_SECONDS = { gateway: 60, nginx: 15 };
/**
 * After a turn of the other, a process waits for pages that the host of a virtual machine has taken back: the event loop
 * was delayed by up to 26 ms in the first seconds, and by 1 to 6 ms later.
 */
const UNCOUNTED_SECONDS = 10;
/** Longer delays of the event loop are printed one by one. */
const REPORTED_MS = 15;

interface Peers {
  readonly nginx: Peer;
  readonly gateway: Peer;
}

/** A proxy with its load. */
interface Subject {
  readonly peer: Peer;
  readonly load: PacedLoad;
}

/**
 * Sends the gateway and nginx, in turn, the same constant rate, and compares their latencies. Sets exit code 1 if the
 * gateway's p99 is more than twice nginx's or its process paused for more than 20 ms.
 */
export async function runLatency(options: LatencyOptions): Promise<void> {
  const { minutes, load: share } = options;
  const timeoutMs = START_MS + minutes * 60_000 * 2;
  await withLab(timeoutMs, async (lab) => {
    const pausesFile = path.join(lab.site.folder, 'pauses.jsonl');
    const peers = await startPeers(lab, pausesFile);
    const hasLargeShare = await prioritize(lab, peers);
    for (const peer of [peers.nginx, peers.gateway]) await load(lab, peer, WARM_UP_SECONDS);
    const saturation = await saturationOf(lab, peers.gateway);
    const perSecond = Math.round((saturation * share) / 100);
    log(`saturation: ${saturation.toFixed(0)}/s; load: ${perSecond}/s`);
    const subjects = {
      nginx: await withLoad(lab, peers.nginx),
      gateway: await withLoad(lab, peers.gateway),
    };
    const { measured, spans } = await takeTurns(subjects, perSecond, minutes);
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
    const text = [
      formatLatency(measured),
      `${perSecond} requests/s, ${share} % of the gateway's saturation, for ${minutes} minutes in turns of ` +
        `${TURN_SECONDS.gateway} s; nginx gets turns of ${TURN_SECONDS.nginx} s in between.`,
      describePauses(longest, hasLargeShare),
      verdict.text,
    ].join('\n\n');
    process.stdout.write(`${text}\n`);
    if (!verdict.isKept) process.exitCode = 1;
    if (options.write) await writeSection(BENCHMARKS, 'latency', text);
  });
}

async function startPeers(lab: Lab, pausesFile: string): Promise<Peers> {
  const { runner, site } = lab;
  const monitor = fileURLToPath(new URL('pause-monitor.ts', import.meta.url));
  const peers = {
    nginx: await nginx.start(site),
    gateway: await startGateway(site, {
      nodeArgs: ['--import', monitor],
      settings: () => ({ PAUSES_FILE: pausesFile }),
    }),
  };
  for (const peer of Object.values(peers)) {
    runner.defer(peer.name, peer.stop);
  }
  return peers;
}

const load = ({ cores, site }: Lab, peer: Peer, seconds: number) =>
  runRound(
    peer,
    { connections: CONNECTIONS, seconds, leadInSeconds: 0, restMs: undefined },
    cores.measured,
    site.signal,
  );

/** Requests/s, as many as it answers. */
async function saturationOf(lab: Lab, peer: Peer): Promise<number> {
  return (await load(lab, peer, SATURATION_SECONDS)).requestsPerSecond;
}

async function withLoad({ runner, site }: Lab, peer: Peer): Promise<Subject> {
  const paced = await startPacedLoad(peer, site.signal);
  runner.defer(`load of ${peer.name}`, paced.stop);
  return { peer, load: paced };
}

/**
 * Without it, the figures contain what other processes on the machine delay. Real-time scheduling would not do: Linux
 * stops its threads for 50 ms when they have used 950 ms of a second, and the threads that collect garbage, which the
 * main thread waits for, do not have it.
 */
function prioritize({ upstreamPid }: Lab, { nginx, gateway }: Peers): Promise<boolean> {
  const helpers = gateway.helperPid === undefined ? [] : [gateway.helperPid];
  // This process stands for its session, to which the processes of the load belong.
  return giveLargeShare([process.pid, upstreamPid, nginx.pid, gateway.pid, ...helpers]);
}

async function takeTurns(
  subjects: { readonly nginx: Subject; readonly gateway: Subject },
  perSecond: number,
  minutes: number,
) {
  const turns = Math.ceil((minutes * 60) / TURN_SECONDS.gateway);
  const spans: Span[] = [];
  const run = async (name: 'nginx' | 'gateway'): Promise<Measured> => {
    const paced = subjects[name].load;
    await paced.run({ perSecond, seconds: UNCOUNTED_SECONDS, counts: false });
    const fromMs = Date.now();
    const measured = await paced.run({ perSecond, seconds: TURN_SECONDS[name], counts: true });
    if (name === 'gateway') spans.push({ fromMs, toMs: Date.now() });
    const { requests, failed, p99Ms, maxMs } = measured;
    log(
      `${name}: ${requests} requests, ${failed} failed, p99 ${p99Ms.toFixed(2)} ms, max ${maxMs.toFixed(1)} ms`,
    );
    return measured;
  };
  let measured = { nginx: await run('nginx'), gateway: await run('gateway') };
  for (let turn = 1; turn < turns; turn += 1) {
    measured = { nginx: await run('nginx'), gateway: await run('gateway') };
  }
  return { measured, spans };
}

function describePauses(longest: Longest, hasLargeShare: boolean): string {
  const { delayMs, ownDelayMs, collectionMs } = longest;
  return (
    `Longest delay of the data plane's event loop: ${delayMs.toFixed(1)} ms, of which ${ownDelayMs.toFixed(1)} ms ` +
    `while it had its core; longest garbage collection: ${collectionMs.toFixed(1)} ms. ` +
    (hasLargeShare
      ? 'Proxies, upstream, NATS and load get a larger share of the cores than other work.'
      : 'Other work on the machine counts fully.')
  );
}
