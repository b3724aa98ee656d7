import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { systemClock } from '@gateway/shared/clock';
import { describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { endOf, superviseWorker } from './fork-worker.ts';
import type { WorkerNews } from './worker-group.ts';

/** Supervises a worker that runs this script. */
function supervise(script: string) {
  const child = spawn(process.execPath, ['-e', script], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const logged: string[] = [];
  const news: WorkerNews[] = [];
  const log = pino({}, { write: (line: string) => void logged.push(line) });
  const worker = superviseWorker(child, 2, (one) => void news.push(one), {
    clock: systemClock,
    log,
    lines: { write: () => undefined },
  });
  return { child, worker, news, logged };
}

/** A connection as the primary accepts it, and the caller's side of it. */
async function acceptOne(): Promise<{ socket: Socket; caller: Socket }> {
  const server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const caller = connect((server.address() as AddressInfo).port, '127.0.0.1');
  caller.on('error', () => undefined);
  const [socket] = await accepted;
  server.close();
  return { socket, caller };
}

describe('the end of a worker', () => {
  it('is how its process ended, even if a message to it failed before', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    const end = endOf(child);
    await once(child, 'spawn');
    child.emit('error', new Error('write EPIPE'));
    child.kill('SIGKILL');
    expect(await end).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it('is the reason if it could not be started', async () => {
    const end = await endOf(spawn('/no/such/program'));
    expect(end).toEqual({ code: null, signal: 'spawn /no/such/program ENOENT' });
  });
});

describe('a message of a worker', () => {
  it('is ignored and logged if it is malformed; the next one counts', async () => {
    const { worker, news, logged } = supervise(`
      process.send({ kind: 'nonsense' });
      process.send('text');
      process.send({ kind: 'serving' }, () => process.disconnect());`);
    expect(await worker.ended).toEqual({ code: 0, signal: null });
    expect(news).toEqual([{ kind: 'serving' }]);
    expect(logged.map((line) => JSON.parse(line) as unknown)).toEqual(
      Array(2).fill(
        expect.objectContaining({ worker: 2, msg: 'malformed worker message ignored' }),
      ),
    );
  });
});

describe('a connection that is assigned to a worker', () => {
  const answering = (result: string, handle: string) => `
    process.on('message', ({ kind, id }, socket) => {
      if (kind !== 'connection') return;
      process.send({ kind: 'assigned', id, result: '${result}' });
      ${handle};
    });`;

  it('is served by it', async () => {
    const { worker } = supervise(answering('accepted', "socket.end('served')"));
    const { socket, caller } = await acceptOne();
    expect(await worker.assign(socket)).toBe('accepted');
    socket.destroy();
    const [bytes] = (await once(caller, 'data')) as [Buffer];
    expect(bytes.toString()).toBe('served');
    worker.kill();
    await worker.ended;
  });

  it('stays open if the worker declines it', async () => {
    const { worker } = supervise(answering('declined', 'socket.destroy()'));
    const { socket, caller } = await acceptOne();
    expect(await worker.assign(socket)).toBe('declined');
    socket.end('from another worker');
    const [bytes] = (await once(caller, 'data')) as [Buffer];
    expect(bytes.toString()).toBe('from another worker');
    worker.kill();
    await worker.ended;
  });

  it('is checked for if the worker does not answer', async () => {
    const { worker } = supervise(`
      process.on('message', ({ kind, id }) => {
        if (kind === 'connection_check') process.send({ kind: 'assigned', id, result: 'not_received' });
      });`);
    const { socket, caller } = await acceptOne();
    expect(await worker.assign(socket)).toBe('not_received');
    socket.destroy();
    caller.destroy();
    worker.kill();
    await worker.ended;
  });

  it('is known to be lost if the worker ends first', async () => {
    const { worker } = supervise('setInterval(() => {}, 1000)');
    const { socket, caller } = await acceptOne();
    const assigned = worker.assign(socket);
    worker.kill();
    expect(await assigned).toBe('ended');
    socket.destroy();
    caller.destroy();
    expect(await worker.assign(socket)).toBe('ended');
  });
});
