import { setTimeout as delay } from 'node:timers/promises';
import { oneRoute } from './gateway-route.ts';
import { EventCallers } from './load/event-callers.ts';
import { workloadPeers } from './peers.ts';
import type { Peer } from '../peers/peer.ts';
import type { Workload } from './workload.ts';

const CALLERS = 1_000;
const SECONDS = 3;

const open = new WeakMap<Peer, EventCallers>();

/** Server-sent events to many callers at a time. */
export const events: Workload = {
  name: 'events',
  unit: 'event',
  description:
    'Server-sent events of 100 bytes, chunked: 1000 callers get one every 200 ms each. p50 and p99 are the time from ' +
    'the upstream to the caller.',
  tools: [],
  upstream: 'node',
  peers: workloadPeers({
    gateway: {
      configure: oneRoute(),
      // All callers are callers of one upstream.
      settings: () => ({ MAX_UPSTREAM_CONNECTIONS: '2000' }),
    },
    nginx: { location: 'proxy_buffering off;' },
    caddy: { flush: '-1' },
  }),
  loads: [
    {
      name: '1000 callers',
      opensWarm: true,
      async open(peer, { signal }) {
        const callers = await EventCallers.open(
          { url: `${peer.url}/events`, authorization: peer.authorization, signal },
          CALLERS,
        );
        open.set(peer, callers);
        return { release: () => callers.close() };
      },
      run: (peer, { part, site: { signal } }) =>
        open.get(peer)?.receive(delay(SECONDS * 1000 * part, undefined, { signal })) ??
        Promise.reject(new Error('no callers')),
    },
  ],
};
