import { createProxyToken, createRoute } from '../lab/management.ts';
import type { Configure } from '../peers/gateway.ts';
import type { Curve } from './curve.ts';
import { inLab, startInLab } from './in-lab.ts';
import { IN_TURN, visitInTurn } from './visit-in-turn.ts';

/** The last is the most that a service may have. */
const COUNTS = [1, 2, 4, 8, 16, 32, 64] as const;

/** CPU time per request over the number of upstreams of a service. */
export const upstreams: Curve = {
  name: 'upstreams',
  chart: {
    title: 'CPU per request over upstreams of the service',
    x: { label: 'upstreams of the service', scale: 'log' },
    y: { label: 'CPU per request, µs', scale: 'linear' },
  },
  method: `One data plane with a service for each point, at saturation over 32 connections. ${IN_TURN}`,
  measure: () =>
    inLab(async (lab) => {
      const peer = await startInLab(lab, 'services of several upstreams', configure);
      const subjects = COUNTS.map((x) => {
        const paths = [`/v1/proxy/upstreams-${x}`];
        return { series: 'upstreams', x, peer: { ...peer, shape: { paths } } };
      });
      return visitInTurn(subjects, { rounds: 8, warmUpSeconds: 3 }, lab);
    }),
};

const configure: Configure = async (client, upstreamUrl) => {
  for (const count of COUNTS) {
    const service = {
      upstreams: Array.from({ length: count }, (_, at) => ({
        url: `${upstreamUrl}/${count}/${at}`,
      })),
      health_check: { interval_ms: 300_000 },
    };
    await createRoute(client, `upstreams-${count}`, { service });
  }
  const authorization = `Bearer ${await createProxyToken(client, 'bench', ['*'])}`;
  return { authorization, shape: { paths: ['/v1/proxy/upstreams-1'] } };
};
