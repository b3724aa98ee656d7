import { startLab, type Lab } from '../lab/lab.ts';
import { createProxyToken, createRoute, WIDE_QUOTA } from '../lab/management.ts';
import { giveLargeShare } from '../lab/priority.ts';
import type { Run } from '../lab/run.ts';
import { seed, seededSecret, type Size } from '../lab/seed.ts';
import { holdConnections, refuseClosed, type HeldConnections } from '../load/hold-connections.ts';
import { runWrk, runWrkWell } from '../load/wrk.ts';
import { measureLoad } from '../measure/round.ts';
import { percentile } from '../measure/statistics.ts';
import { takeTurns } from '../measure/turns.ts';
import { startGateway } from '../peers/gateway.ts';
import type { Configure } from '../peers/gateway-configuration.ts';
import type { Peer } from '../peers/peer.ts';
import { log } from '../lab/log.ts';
import type { Curve } from './curve.ts';

/** Costs of a request under saturation, over sizes that can be loaded side by side. */

const TIMEOUT_MS = 400_000;
const WARM_UP_SECONDS = 3;
/** The point before may have left the CPU's caches empty: one of large bodies made the next one cost a fifth more. */
const LEAD_IN_SECONDS = 1;
const CPU = 'CPU per request, µs';

/** A point of a curve: a load on a running gateway. */
interface Point {
  readonly series: string;
  readonly x: number;
  readonly peer: Peer;
  /** Connections that stay open beside the load. */
  readonly held?: HeldConnections;
}

/** The number of rounds without the warm-up. */
interface LoadCurve {
  readonly name: string;
  readonly title: string;
  readonly x: string;
  readonly scale?: 'linear' | 'log';
  readonly rounds?: number;
  readonly points: (lab: Lab) => Promise<readonly Point[]>;
}

/**
 * Loads each point in each round and gives its CPU time per request, µs. Other work on the machine hits all points alike
 * and only ever adds CPU time, so the lower quartile of the rounds is taken. Fails if a response is not 2xx, or a held
 * connection was closed.
 */
function loadCurve({ name, title, x, scale = 'linear', rounds = 8, points }: LoadCurve): Curve {
  return {
    name,
    title,
    x: { label: x, scale: 'log' },
    y: { label: CPU, scale },
    async measure(run: Run, given) {
      const lab = await startLab(run, TIMEOUT_MS);
      const { cores, signal } = lab;
      const all = await points(lab);
      await giveLargeShare([lab.upstreamPid, ...new Set(all.map(({ peer }) => peer.pid))]);
      for (const { peer } of all) await runWrk(peer, { seconds: WARM_UP_SECONDS }, signal);
      const results = await takeTurns(all, {
        rounds: given ?? rounds,
        nameOf: (point) => `${point.series}, ${point.x}`,
        async measure({ peer, held }) {
          await runWrkWell(peer, { seconds: LEAD_IN_SECONDS }, signal);
          const load = () => runWrkWell(peer, { seconds: 1 }, signal);
          const result = await measureLoad([peer.pid], cores.measured, load);
          if (held !== undefined) refuseClosed(held);
          return result;
        },
      });
      const names = [...new Set(all.map(({ series }) => series))];
      return names.map((series) => ({
        name: series,
        points: [...results]
          .filter(([point]) => point.series === series)
          .map(([point, taken]) => {
            const costs = taken.map(({ cpuUsPerRequest }) => cpuUsPerRequest);
            return { x: point.x, y: percentile(costs, 0.25) };
          }),
      }));
    },
  };
}

/** Seeds routes of one service, and tokens; the plain load calls the last route with the first token. */
function seeded(size: Omit<Size, 'services'>, route: object = {}): Configure {
  return async (client, upstreamUrl, databaseUrl) => {
    const copied = { service: { url: upstreamUrl }, route: { rate_limit: WIDE_QUOTA, ...route } };
    await seed(client, databaseUrl, { ...size, services: 1 }, copied);
    const paths = [`/v1/proxy/route-${size.routes}`];
    return { authorization: `Bearer ${seededSecret(1)}`, shape: { paths } };
  };
}

const one = { routes: 1, tokens: 1 };

function start(lab: Lab, name: string, configure: Configure, settings = {}): Promise<Peer> {
  log(`starting a gateway with ${name}`);
  return startGateway(lab, { name, configure, settings: () => settings });
}

function sizeCurve(name: 'routes' | 'tokens'): Curve {
  return loadCurve({
    name,
    title: `CPU per request over ${name}`,
    x: name,
    rounds: 5,
    async points(lab) {
      const points: Point[] = [];
      for (const x of [1, 10, 100, 1000, 10_000, 100_000]) {
        const peer = await start(lab, `${x} ${name}`, seeded({ ...one, [name]: x }));
        const all = { ...peer, shape: { paths: peer.shape?.paths ?? [], [name]: x } };
        points.push({ series: `load with one ${name.slice(0, -1)}`, x, peer });
        points.push({ series: `load with all ${name} in turn`, x, peer: all });
      }
      return points;
    },
  });
}

const quotas = loadCurve({
  name: 'quotas',
  title: 'CPU per request over quotas in use',
  x: 'quotas in use',
  async points(lab) {
    const route = { rate_limit: { limit: 1e9, window_seconds: 60, per: 'token' } };
    const most = 10_000;
    const configure = seeded({ routes: 1, tokens: most }, route);
    const peer = await start(lab, 'a quota for each token', configure);
    return [1, 10, 100, 1000, most].map((x) => {
      return { series: 'quotas', x, peer: { ...peer, shape: { tokens: x } } };
    });
  },
});

/** The last is the most that a service may have. */
const UPSTREAMS = [1, 2, 4, 8, 16, 32, 64];

const upstreams = loadCurve({
  name: 'upstreams',
  title: 'CPU per request over upstreams of the service',
  x: 'upstreams of the service',
  async points(lab) {
    const peer = await start(lab, 'services of several upstreams', async (client, url) => {
      for (const count of UPSTREAMS) {
        const service = {
          upstreams: Array.from({ length: count }, (_, at) => ({ url: `${url}/${count}/${at}` })),
          health_check: { interval_ms: 300_000 },
        };
        await createRoute(client, `upstreams-${count}`, { service });
      }
      const authorization = await createProxyToken(client, ['*']);
      return { authorization, shape: { paths: ['/v1/proxy/upstreams-1'] } };
    });
    return UPSTREAMS.map((x) => {
      const shape = { paths: [`/v1/proxy/upstreams-${x}`] };
      return { series: 'upstreams', x, peer: { ...peer, shape } };
    });
  },
});

const connections = loadCurve({
  name: 'connections',
  title: 'CPU per request over open connections',
  x: 'idle connections beside the load',
  async points(lab) {
    const points: Point[] = [];
    for (const x of [1, 10, 100, 1000, 10_000]) {
      // Longer than a run, so that the data plane closes none of them.
      const settings = { KEEP_ALIVE_TIMEOUT_MS: '3600000' };
      const peer = await start(lab, `${x} idle connections`, seeded(one), settings);
      const held = await holdConnections(peer, x, lab.signal);
      lab.defer(held.close);
      points.push({ series: 'connections', x, peer, held });
    }
    return points;
  },
});

const bodies = loadCurve({
  name: 'bodies',
  title: 'CPU per request over the size of its body',
  x: 'request body, bytes',
  scale: 'log',
  async points(lab) {
    const peer = await start(lab, 'one route', seeded(one));
    return [100, 1000, 10_000, 100_000, 1_000_000].map((x) => {
      return { series: 'bodies', x, peer: { ...peer, shape: { ...peer.shape, bodyBytes: x } } };
    });
  },
});

export const loadCurves: readonly Curve[] = [
  sizeCurve('routes'),
  sizeCurve('tokens'),
  quotas,
  upstreams,
  connections,
  bodies,
];
