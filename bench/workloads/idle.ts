import { setTimeout as delay } from 'node:timers/promises';
import { refuseClosed } from '../load/hold-connections.ts';
import { openIdleConnections } from '../load/idle-connections.ts';
import { runWrk } from '../load/wrk.ts';
import { usageOf } from '../measure/process-tree.ts';
import type { Peer } from '../peers/peer.ts';
import { oneRoute } from './gateway-route.ts';
import { workloadPeers } from './peers.ts';
import type { Held, Workload } from './workload.ts';

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
  tools: [],
  upstream: 'nginx',
  ownFigure: { head: 'KiB/connection', format: (kib) => kib.toFixed(1) },
  peers: workloadPeers({
    gateway: {
      configure: oneRoute(),
      settings: () => ({ KEEP_ALIVE_TIMEOUT_MS: '600000' }),
    },
  }),
  loads: [
    {
      name: '10 000 connections, 5 % active',
      opensWarm: true,
      open: (peer, { signal }) => holdConnections(peer, signal),
      run: ({ url, authorization }, { part, site: { signal } }) =>
        runWrk({
          url,
          authorization,
          signal,
          connections: ACTIVE,
          restMs: '50-150',
          seconds: Math.ceil(SECONDS * part),
        }),
    },
  ],
};

/** Opens 10 000 connections to measure their memory, and keeps as many of them as are idle under the load. */
async function holdConnections(peer: Peer, signal: AbortSignal): Promise<Held> {
  const { url, authorization, pid } = peer;
  const open = (count: number) => openIdleConnections({ url, authorization, count, signal });
  const residentKib = async () => {
    await delay(SETTLE_MS, undefined, { signal });
    return usageOf(pid).residentBytes / KIB;
  };
  if (!kibPerConnection.has(peer)) {
    // The code is compiled and the heap has its usual size before the memory is read.
    await runWrk({ url, authorization, signal, connections: 32, seconds: SECONDS });
  }
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
