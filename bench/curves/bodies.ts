import { configureSeeded } from './configure-seeded.ts';
import type { Curve } from './curve.ts';
import { inLab, startInLab } from './in-lab.ts';
import { IN_TURN, visitInTurn } from './visit-in-turn.ts';

const SIZES = [100, 1000, 10_000, 100_000, 1_000_000] as const;

/** CPU time per request over the size of its body. */
export const bodies: Curve = {
  name: 'bodies',
  chart: {
    title: 'CPU per request over the size of its body',
    x: { label: 'request body, bytes', scale: 'log' },
    y: { label: 'CPU per request, µs', scale: 'log' },
  },
  method: `One data plane, at saturation over 32 connections. ${IN_TURN}`,
  measure: () =>
    inLab(async (lab) => {
      const peer = await startInLab(lab, 'one route', configureSeeded({ routes: 1, tokens: 1 }));
      const subjects = SIZES.map((x) => {
        return { series: 'bodies', x, peer: { ...peer, shape: { ...peer.shape, bodyBytes: x } } };
      });
      return visitInTurn(subjects, { rounds: 8, warmUpSeconds: 3 }, lab);
    }),
};
