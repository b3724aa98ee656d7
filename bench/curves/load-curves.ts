/** Costs of a request under load, over sizes that can be loaded side by side. */
import { startLab, type Lab } from '../lab/lab.ts';
import { log } from '../lab/log.ts';
import { createProxyToken, createRoute } from '../lab/management.ts';
import { giveLargeShare } from '../lab/priority.ts';
import { startStack } from '../lab/stack.ts';
import { holdConnections, refuseClosed, type HeldConnections } from '../load/hold-connections.ts';
import { CONNECTIONS, runWrkWell, type Load } from '../load/wrk.ts';
import { measureLoad } from '../measure/round.ts';
import { leastCpuUs, takeTurns } from '../measure/turns.ts';
import { startGateway, untilServed } from '../peers/gateway.ts';
import { oneRoute, seeded, seededByPath, type Configure } from '../peers/gateway-configuration.ts';
import type { Peer } from '../peers/peer.ts';
import type { Curve } from './curve.ts';

const WARM_UP_SECONDS = 3;
/** The point before may have left the CPU's caches empty: one of large bodies made the next one cost a fifth more. */
const LEAD_IN_SECONDS = 1;

/** A point of a curve: a load that running gateways share. */
interface Point {
  readonly series: string;
  readonly x: number;
  readonly peers: readonly Peer[];
  /** The load of each gateway; a second of as many requests as it answers by default. */
  readonly load?: Partial<Load>;
  /** Connections that stay open beside the load. */
  readonly held?: HeldConnections;
}

/** The number of rounds without the warm-up. */
interface LoadCurve {
  readonly name: string;
  readonly title?: string;
  readonly x: string;
  readonly isWide?: boolean;
  readonly rounds?: number;
  readonly points: (lab: Lab) => Promise<readonly Point[]>;
}

/**
 * Loads each point in each round and gives its CPU time per request, µs. Fails if a response is not 2xx, or a held
 * connection was closed.
 */
function loadCurve(curve: LoadCurve): Curve {
  const { name, x, title = `CPU per request over ${x}`, rounds = 8, isWide = false } = curve;
  return {
    name,
    title,
    x,
    y: 'CPU per request, µs',
    isWide,
    async measure(run, given) {
      const lab = await startLab(run);
      const points = await curve.points(lab);
      const pidsOf = ({ peers }: Point) => peers.map(({ pid }) => pid);
      await giveLargeShare([lab.upstreamPid, ...new Set(points.flatMap(pidsOf))]);
      const send = async ({ peers, load }: Point, seconds = load?.seconds ?? 1) => {
        const sending = peers.map((peer) => runWrkWell(peer, { ...load, seconds }, lab.signal));
        const outcomes = await Promise.all(sending);
        const [first] = outcomes as [(typeof outcomes)[number]];
        return { ...first, units: outcomes.reduce((sum, { units }) => sum + units, 0) };
      };
      for (const point of points) await send(point, WARM_UP_SECONDS);
      const results = await takeTurns(points, {
        rounds: given ?? rounds,
        nameOf: (point) => `${point.series}, ${point.x}`,
        async measure(point) {
          await send(point, LEAD_IN_SECONDS);
          const result = await measureLoad(pidsOf(point), lab.cores.measured, () => send(point));
          if (point.held !== undefined) refuseClosed(point.held);
          return result;
        },
      });
      return [...Map.groupBy(results, ([{ series }]) => series)].map(([series, all]) => ({
        name: series,
        points: all.map(([point, taken]) => ({ x: point.x, y: leastCpuUs(taken) })),
      }));
    },
  };
}

const ONE = { services: 1, routes: 1, tokens: 1 };

function start(lab: Lab, name: string, configure: Configure, settings = {}): Promise<Peer> {
  log(`starting a gateway with ${name}`);
  return startGateway(lab, { name, configure, settings: () => settings });
}

function sizeCurve(name: 'routes' | 'tokens'): Curve {
  return loadCurve({
    name,
    x: name,
    rounds: 5,
    async points(lab) {
      const points: Point[] = [];
      for (const x of [1, 10, 100, 1000, 10_000, 100_000]) {
        const peer = await start(lab, `${x} ${name}`, seeded({ ...ONE, [name]: x }));
        points.push(
          { series: `load with one ${name.slice(0, -1)}`, x, peers: [peer] },
          { series: `load with all ${name} in turn`, x, peers: [peer], load: { [name]: x } },
        );
      }
      return points;
    },
  });
}

/** The routes have one host and a path each, so it is the search for the host and the path that could grow. */
const matches = loadCurve({
  name: 'matches',
  x: 'routes with a host and a path',
  rounds: 5,
  async points(lab) {
    const points: Point[] = [];
    for (const x of [10, 1000, 100_000]) {
      const peer = await start(lab, `${x} paths`, seededByPath({ ...ONE, routes: x }));
      points.push(
        { series: 'load on one path', x, peers: [peer] },
        { series: 'load on all paths in turn', x, peers: [peer], load: { routes: x } },
      );
    }
    return points;
  },
});

const quotas = loadCurve({
  name: 'quotas',
  x: 'quotas in use',
  async points(lab) {
    const route = { rate_limit: { limit: 1e9, window_seconds: 60, per: 'token' } };
    const most = 10_000;
    const configure = seeded({ ...ONE, tokens: most }, { route });
    const peers = [await start(lab, 'a quota for each token', configure)];
    return [1, 10, 100, 1000, most].map((x) => {
      return { series: 'quotas', x, peers, load: { tokens: x } };
    });
  },
});

/** The last is the most that a service may have. */
const UPSTREAMS = [1, 2, 4, 8, 16, 32, 64];

const upstreams = loadCurve({
  name: 'upstreams',
  x: 'upstreams of the service',
  async points(lab) {
    const peer = await start(lab, 'services of several upstreams', async (client, site) => {
      for (const count of UPSTREAMS) {
        const urls = Array.from({ length: count }, (_, at) => `${site.upstreamUrl}/${count}/${at}`);
        const service = {
          upstreams: urls.map((url) => ({ url })),
          health_check: { interval_ms: 300_000 },
        };
        await createRoute(client, `upstreams-${count}`, { service });
      }
      const authorization = await createProxyToken(client, ['*']);
      return { authorization, shape: { paths: ['/v1/proxy/upstreams-1'] } };
    });
    return UPSTREAMS.map((x) => {
      const load = { paths: [`/v1/proxy/upstreams-${x}`] };
      return { series: 'upstreams', x, peers: [peer], load };
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
      const peer = await start(lab, `${x} idle connections`, seeded(ONE), settings);
      const held = await holdConnections(peer, x, lab.signal);
      lab.defer(held.close);
      points.push({ series: 'connections', x, peers: [peer], held });
    }
    return points;
  },
});

const bodies = loadCurve({
  name: 'bodies',
  title: 'CPU per request over the size of its body',
  x: 'request body, bytes',
  isWide: true,
  async points(lab) {
    const peers = [await start(lab, 'one route', seeded(ONE))];
    return [100, 1000, 10_000, 100_000, 1_000_000].map((x) => {
      return { series: 'bodies', x, peers, load: { bodyBytes: x } };
    });
  },
});

/**
 * All data planes together, at the same total load of nearly 4000 requests/s: 8 of them on one core, of which one gets
 * the load or several share it. Their idle work is included.
 */
const dataPlanes = loadCurve({
  name: 'data-planes',
  title: 'CPU per request, of all data planes together',
  x: 'data planes that share the load',
  rounds: 6,
  async points(lab) {
    const { launcher, signal } = lab;
    const { stack, controlPlane, client } = await startStack(lab);
    const upstreamUrl = `http://127.0.0.1:${lab.upstreamPort}`;
    const site = { ...lab, upstreamUrl, databaseUrl: stack.databaseUrl };
    const { authorization } = await oneRoute()(client, site);
    const counts = [1, 2, 4, 8];
    const planes: Peer[] = [];
    while (planes.length < Math.max(...counts)) {
      const name = `data plane ${planes.length + 1}`;
      log(`starting ${name}`);
      const { baseUrl, pid } = await stack.startDataPlane({ launcher, signal });
      planes.push({ name, url: `${baseUrl}/v1/proxy/orders`, authorization, pid });
    }
    for (const plane of planes) await untilServed(plane, signal);
    await controlPlane.stop();
    return counts.map((x) => {
      const load = { connections: CONNECTIONS / x, seconds: 3, restMs: '4-12' };
      return { series: 'all data planes', x, peers: planes.slice(0, x), load };
    });
  },
});

export const loadCurves: readonly Curve[] = [
  sizeCurve('routes'),
  sizeCurve('tokens'),
  matches,
  quotas,
  upstreams,
  connections,
  bodies,
  dataPlanes,
];
