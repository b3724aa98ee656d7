import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { expect } from '@jest/globals';
import { systemClock } from '@gateway/shared/clock';
import { eventually } from '@gateway/shared/test/eventually';
import type { closeAfterEach } from '@gateway/shared/test/opened';
import { rawConnection, requestText } from '@gateway/shared/test/raw-client';
import { startUpstream, type TestUpstream } from '@gateway/shared/test/upstream';
import { countedConnections, type CountedConnections } from './connection-counts.ts';
import { startTestDataPath, type TestDataPath } from './data-path.ts';
import { startSecureDataPath, type SecureDataPath } from './secure-data-path.ts';

type Opened = ReturnType<typeof closeAfterEach>;

/** A gateway with one kind of port, and a way to connect to it. */
export interface World<G extends TestDataPath = TestDataPath> {
  readonly gateway: G;
  /** Answers nothing to a path that ends with /hang, except for the begin of /begin/hang. */
  readonly upstream: TestUpstream;
  readonly open: () => Promise<Socket>;
  /** From now on the code of the gateway throws. */
  readonly fail: () => void;
}

async function startParts(opened: Opened) {
  const upstream = opened(
    await startUpstream(({ url }, response) => {
      if (!url.endsWith('/hang')) response.end('ok');
      if (url.endsWith('/begin/hang')) response.write('first');
    }),
  );
  let fails = false;
  const clock = {
    ...systemClock,
    nowMs() {
      if (fails) throw new Error('a bug');
      return systemClock.nowMs();
    },
  };
  return { upstream, clock, fail: () => void (fails = true) };
}

/** A gateway without TLS. */
export async function plain(
  opened: Opened,
  environment: Record<string, string> = {},
): Promise<World> {
  const { upstream, clock, fail } = await startParts(opened);
  const gateway = opened(
    await startTestDataPath({ upstreams: [upstream.url] }, { clock, environment }),
  );
  const open = async () => (await rawConnection(gateway.port)).socket;
  return { gateway, upstream, open, fail };
}

/** A gateway with TLS; `open` connects with HTTP/1.1. */
export async function secure(
  opened: Opened,
  environment: Record<string, string> = {},
): Promise<World<SecureDataPath>> {
  const { upstream, clock, fail } = await startParts(opened);
  const gateway = opened(
    await startSecureDataPath({ upstreams: [upstream.url] }, { clock, environment }),
  );
  const open = async () => {
    const ca = gateway.authority.certPem;
    const socket = connectTls({ port: gateway.port, host: '127.0.0.1', ca });
    socket.on('error', () => undefined).resume();
    await once(socket, 'secureConnect');
    return socket;
  };
  return { gateway, upstream, open, fail };
}

export async function tcp(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined).resume();
  await once(socket, 'connect');
  return socket;
}

export function send(
  { gateway }: World,
  socket: Socket,
  target: string,
  more: string[] = [],
): void {
  const lines = ['Host: gateway.test', `Authorization: Bearer ${gateway.token}`, ...more];
  socket.write(requestText({ target: `/v1/proxy/test${target}`, lines }));
}

export async function hang(world: World, socket: Socket): Promise<void> {
  send(world, socket, '/hang');
  await eventually(() => expect(world.upstream.seen).toHaveLength(1));
}

export async function closed(socket: Socket): Promise<void> {
  if (!socket.closed) await once(socket, 'close');
}

/** Holds the equation of all connections, and waits for what they have become. */
export async function counts(
  { gateway }: World,
  expected: Partial<CountedConnections>,
): Promise<void> {
  await eventually(async () => {
    const now = await countedConnections(gateway.registry);
    const unanswered = Object.values(now.unanswered).reduce((sum, count) => sum + count, 0);
    expect(now.answered + unanswered + now.open).toBe(now.accepted);
    expect(now).toEqual({ answered: 0, open: 0, unanswered: {}, ...expected });
  });
}

export async function arrived({ gateway }: World, socket: Socket): Promise<void> {
  await eventually(async () => {
    expect((await countedConnections(gateway.registry)).open).toBe(1);
    expect(socket.writableLength).toBe(0);
  });
}

export function environmentOf(result: string): Record<string, string> {
  return result.endsWith('_timeout') ? { KEEP_ALIVE_TIMEOUT_MS: '200' } : {};
}

export async function countsOne(world: World, result: string): Promise<void> {
  if (result === 'answered') await counts(world, { accepted: 1, answered: 1 });
  else await counts(world, { accepted: 1, unanswered: { [result]: 1 } });
}
