import type { Curve } from './curve.ts';
import { configureSeeded } from './configure-seeded.ts';
import { inLab, startInLab } from './in-lab.ts';
import { IN_TURN, visitInTurn, type Subject } from './visit-in-turn.ts';

const COUNTS = [1, 10, 100, 1000, 10_000, 100_000] as const;

/** CPU time per request over the number of routes. */
export const routes = curveOver('routes', 'route');

/** CPU time per request over the number of tokens. */
export const tokens = curveOver('tokens', 'token');

function curveOver(name: 'routes' | 'tokens', one: string): Curve {
  return {
    name,
    chart: {
      title: `CPU per request over ${name}`,
      x: { label: name, scale: 'log' },
      y: { label: 'CPU per request, µs', scale: 'linear' },
    },
    method: `Each point is a data plane of its own, at saturation over 32 connections. ${IN_TURN}`,
    measure: () =>
      inLab(async (lab) => {
        const subjects: Subject[] = [];
        for (const x of COUNTS) {
          const configure = configureSeeded({ routes: 1, tokens: 1, [name]: x });
          const peer = await startInLab(lab, `${x} ${name}`, configure);
          const all = { ...peer, shape: { paths: peer.shape?.paths ?? [], [name]: x } };
          subjects.push({ series: `load with one ${one}`, x, peer });
          subjects.push({ series: `load with all ${name} in turn`, x, peer: all });
        }
        return visitInTurn(subjects, { rounds: 5, warmUpSeconds: 3 }, lab);
      }),
  };
}
