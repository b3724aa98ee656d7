import { openIdleConnections } from '../load/idle-connections.ts';
import { configureSeeded } from './configure-seeded.ts';
import type { Curve } from './curve.ts';
import { inLab, startInLab } from './in-lab.ts';
import { IN_TURN, visitInTurn, type Subject } from './visit-in-turn.ts';

const IDLE = [1, 10, 100, 1000, 10_000] as const;
/** Longer than a run, so that the data plane closes none of them. */
const KEEP_ALIVE_TIMEOUT_MS = '3600000';

/** CPU time per request over the number of open connections. */
export const connections: Curve = {
  name: 'connections',
  chart: {
    title: 'CPU per request over open connections',
    x: { label: 'idle connections beside the load', scale: 'log' },
    y: { label: 'CPU per request, µs', scale: 'linear' },
  },
  method:
    'Each point is a data plane of its own with that many idle connections, which sent a request each; the load is at ' +
    `saturation over 32 further connections. ${IN_TURN}`,
  measure: () =>
    inLab(async (lab) => {
      const subjects: Subject[] = [];
      for (const x of IDLE) {
        const configure = configureSeeded({ routes: 1, tokens: 1 });
        const settings = () => ({ KEEP_ALIVE_TIMEOUT_MS });
        const peer = await startInLab(lab, `${x} idle connections`, configure, { settings });
        const { signal } = lab.site;
        const idle = await openIdleConnections({ ...peer, count: x, signal });
        lab.runner.defer('idle connections', () => {
          idle.close();
          return Promise.resolve();
        });
        subjects.push({ series: 'connections', x, peer, idle });
      }
      return visitInTurn(subjects, { rounds: 8, warmUpSeconds: 3 }, lab);
    }),
};
