import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import type { Lab } from '../lab/lab.ts';
import { configureSeeded } from './configure-seeded.ts';
import type { Curve } from './curve.ts';
import { inLab, startInLab } from './in-lab.ts';
import { IN_TURN, visitInTurn, type Subject } from './visit-in-turn.ts';

const IDLE = [1, 10, 100, 1000, 10_000] as const;
/** Longer than a run, so that the data plane closes none of them. */
const KEEP_ALIVE_TIMEOUT_MS = '3600000';
/** Fewer than the queue of a listening socket holds. */
const OPENED_AT_ONCE = 100;

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
        await openIdle(lab, peer.url, x);
        subjects.push({ series: 'connections', x, peer });
      }
      return visitInTurn(subjects, { rounds: 8, warmUpSeconds: 3 }, lab);
    }),
};

/** Opens connections that stay idle after a request, until the lab stops. */
async function openIdle({ runner }: Lab, url: string, count: number): Promise<void> {
  const { hostname, port, host } = new URL(url);
  const sockets: Socket[] = [];
  runner.defer('idle connections', () => {
    for (const socket of sockets) socket.destroy();
    return Promise.resolve();
  });
  const open = async () => {
    const socket = connect({ host: hostname, port: Number(port) });
    sockets.push(socket);
    await once(socket, 'connect');
    // Without a token: the answer, a 401, keeps the connection open.
    socket.write(`GET /v1/proxy/none HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    await once(socket, 'data');
  };
  while (sockets.length < count) {
    const next = Math.min(OPENED_AT_ONCE, count - sockets.length);
    await Promise.all(Array.from({ length: next }, open));
  }
  const closed = sockets.filter((socket) => socket.readyState !== 'open').length;
  if (closed > 0) throw new Error(`${closed} of ${count} idle connections were closed`);
}
