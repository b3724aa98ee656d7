import { WIDE_QUOTA } from '../lab/management.ts';
import { withLab } from '../lab/lab.ts';
import { seed, seededSecret } from '../lab/seed.ts';
import { startGateway, type Configure } from '../peers/gateway.ts';
import { log } from '../report/log.ts';
import type { Series } from './chart/line-chart.ts';
import type { Curve } from './curve.ts';
import { IN_TURN, visitInTurn, type Subject } from './visit-in-turn.ts';

const TIMEOUT_MS = 400_000;
const COUNTS = [1, 10, 100, 1000, 10_000, 100_000] as const;

/** CPU time per request over the number of routes. */
export const routes: Curve = {
  name: 'routes',
  chart: {
    title: 'CPU per request over routes',
    x: { label: 'routes', scale: 'log' },
    y: { label: 'CPU per request, µs', scale: 'linear' },
  },
  method: `Each point is a data plane of its own, at saturation over 32 connections. ${IN_TURN}`,
  measure: measureRoutes,
};

async function measureRoutes(): Promise<readonly Series[]> {
  let result: readonly Series[] = [];
  await withLab(TIMEOUT_MS, async ({ cores, runner, site }) => {
    const subjects: Subject[] = [];
    for (const count of COUNTS) {
      log(`starting a gateway with ${count} routes`);
      const name = `${count} routes`;
      const peer = await startGateway(site, { name, configure: configureRoutes(count) });
      runner.defer(name, peer.stop);
      subjects.push({ series: 'load on one route', x: count, peer });
      subjects.push({
        series: 'load on all routes in turn',
        x: count,
        peer: { ...peer, shape: { routes: count } },
      });
    }
    const inTurn = { cores, signal: site.signal };
    result = await visitInTurn(subjects, { rounds: 5, warmUpSeconds: 3 }, inTurn);
  });
  return result;
}

function configureRoutes(count: number): Configure {
  return async (client, upstreamUrl, databaseUrl) => {
    const size = { services: 1, routes: count, tokens: 1 };
    const copied = { service: { url: upstreamUrl }, route: { rate_limit: WIDE_QUOTA } };
    await seed(client, databaseUrl, size, copied);
    const paths = [`/v1/proxy/route-${count}`];
    return { authorization: `Bearer ${seededSecret(1)}`, shape: { paths } };
  };
}
