import { configureSeeded } from './configure-seeded.ts';
import type { Curve } from './curve.ts';
import { inLab, startInLab } from './in-lab.ts';
import { IN_TURN, visitInTurn } from './visit-in-turn.ts';

const COUNTS = [1, 10, 100, 1000, 10_000] as const;

/** CPU time per request over the number of quotas that requests count against. */
export const quotas: Curve = {
  name: 'quotas',
  chart: {
    title: 'CPU per request over quotas in use',
    x: { label: 'quotas in use', scale: 'log' },
    y: { label: 'CPU per request, µs', scale: 'linear' },
  },
  method:
    'One data plane and one route with a quota of 10^9 a minute for each token; the load sends that many tokens in ' +
    `turn, at saturation over 32 connections. ${IN_TURN}`,
  measure: () =>
    inLab(async (lab) => {
      const route = { rate_limit: { limit: 1e9, window_seconds: 60, per: 'token' } };
      const size = { routes: 1, tokens: COUNTS.at(-1) ?? 1 };
      const peer = await startInLab(lab, 'a quota for each token', configureSeeded(size, route));
      const subjects = COUNTS.map((x) => ({
        series: 'quotas',
        x,
        peer: { ...peer, shape: { tokens: x } },
      }));
      return visitInTurn(subjects, { rounds: 8, warmUpSeconds: 4 }, lab);
    }),
};
