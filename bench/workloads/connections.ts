import { setTimeout as delay } from 'node:timers/promises';
import type { Lab } from '../lab/lab.ts';
import { holdConnections, refuseClosed } from '../load/hold-connections.ts';
import { runWrk } from '../load/wrk.ts';
import { usageOf } from '../measure/process-tree.ts';
import { outcomeOf } from '../measure/round.ts';
import type { Peer } from '../peers/peer.ts';
import { proxies, wrkLoad, type Held, type Workload } from './workload.ts';

/** A new TCP connection for each request. */
export const connections: Workload = {
  name: 'connections',
  unit: 'request',
  description:
    'wrk opens a connection for each request, 32 at a time; the connections to the upstream are kept.',
  upstream: 'nginx',
  peers: proxies(),
  loads: [wrkLoad({ name: 'connection per request', seconds: 2, closing: true })],
};

const FIRST = 1_000;
const ALL = 10_000;
const ACTIVE = 500;
const SECONDS = 3;
const SETTLE_MS = 1_000;
const KIB = 1024;

/**
 * Memory of an idle connection, by proxy. It is read at the first visit: later ones reuse memory that the proxy has kept
 * from the connections of the first.
 */
const kibPerConnection = new WeakMap<Peer, number>();

/** Many connections that are kept open, a twentieth of which are active. */
export const idle: Workload = {
  name: 'idle',
  unit: 'request',
  description:
    '9500 connections that have had one request each stay open, 500 more send a request every 50 to 150 ms. ' +
    'KiB/connection is the growth of the resident memory from 1000 idle connections to 10 000.',
  upstream: 'nginx',
  ownFigure: { head: 'KiB/connection', format: (kib) => kib.toFixed(1) },
  peers: proxies({}, { settings: () => ({ KEEP_ALIVE_TIMEOUT_MS: '600000' }) }),
  loads: [
    {
      ...wrkLoad({
        name: '10 000 connections, 5 % active',
        seconds: SECONDS,
        connections: ACTIVE,
        restMs: '50-150',
      }),
      open: holdIdle,
      // The code is compiled and the heap has its usual size before the memory is read.
      warmUp: async (peer, lab) => {
        await runWrk(peer, { seconds: SECONDS }, lab.signal);
        (await holdIdle(peer, lab)).release?.();
      },
    },
  ],
};

/** Opens 10 000 connections to measure their memory, and keeps as many of them as are idle under the load. */
async function holdIdle(peer: Peer, { signal }: Lab): Promise<Held> {
  const open = (count: number) => holdConnections(peer, count, signal);
  const residentKib = async () => {
    await delay(SETTLE_MS, undefined, { signal });
    return usageOf(peer.pid).residentBytes / KIB;
  };
  const first = await open(FIRST);
  const beforeKib = await residentKib();
  const others = await open(ALL - ACTIVE - FIRST);
  const last = await open(ACTIVE);
  const grownKib = (await residentKib()) - beforeKib;
  for (const held of [first, others, last]) refuseClosed(held);
  last.close();
  if (!kibPerConnection.has(peer)) kibPerConnection.set(peer, grownKib / (ALL - FIRST));
  return {
    ownFigure: kibPerConnection.get(peer) ?? Number.NaN,
    closed: () => first.closed + others.closed,
    release: () => {
      first.close();
      others.close();
    },
  };
}

/** An event begins with the time when it was sent, in ms since 1970. */
const EVENT = /^data: ([\d.]+) /gm;

/** Server-sent events to many callers at a time. */
export const events: Workload = {
  name: 'events',
  unit: 'event',
  description:
    'Server-sent events of 100 bytes, chunked: 1000 callers get one every 200 ms each. p50 and p99 are the time from ' +
    'the upstream to the caller.',
  upstream: 'node',
  peers: proxies(
    { nginx: { location: 'proxy_buffering off;' }, caddy: { flush: '-1' } },
    // All callers are callers of one upstream.
    { settings: () => ({ MAX_UPSTREAM_CONNECTIONS: '2000' }) },
  ),
  loads: [
    {
      name: '1000 callers',
      async open(peer, { signal }) {
        let timesUs: number[] = [];
        const target = { ...peer, url: `${peer.url}/events` };
        const held = await holdConnections(target, 1_000, signal, (bytes) => {
          const nowMs = performance.timeOrigin + performance.now();
          for (const [, sentMs] of bytes.toString('latin1').matchAll(EVENT)) {
            timesUs.push((nowMs - Number(sentMs)) * 1000);
          }
        });
        return {
          async run(part) {
            timesUs = [];
            const startMs = performance.now();
            await delay(SECONDS * 1000 * part, undefined, { signal });
            return outcomeOf(timesUs, 0, performance.now() - startMs);
          },
          closed: () => held.closed,
          release: held.close,
        };
      },
    },
  ],
};
