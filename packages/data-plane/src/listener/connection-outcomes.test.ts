import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterEach, describe, expect, it } from '@jest/globals';
import { systemClock } from '@gateway/shared/clock';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawConnection, requestText } from '@gateway/shared/test/raw-client';
import { startUpstream } from '@gateway/shared/test/upstream';
import { countedConnections, type CountedConnections } from '../../test/connection-counts.ts';
import { startTestDataPath, type TestDataPath } from '../../test/data-path.ts';
import { http2Call } from '../../test/http2-call.ts';
import { FRAME, frame, frameConnection } from '../../test/http2-frames.ts';
import { startSecureDataPath, type SecureDataPath } from '../../test/secure-data-path.ts';

const opened = closeAfterEach();
/** Whether the code of the gateway throws now. */
let bug = false;

afterEach(() => {
  bug = false;
});

const clock = {
  ...systemClock,
  nowMs() {
    if (bug) throw new Error('a bug');
    return systemClock.nowMs();
  },
};
const UPGRADE = [
  ...['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];

async function startHangingUpstream() {
  return opened(
    await startUpstream(({ url }, response) => {
      if (!url.endsWith('/hang')) response.end('ok');
      if (url.endsWith('/begin/hang')) response.write('first');
    }),
  );
}

type Upstream = Awaited<ReturnType<typeof startHangingUpstream>>;

/** A gateway with one kind of port, and a way to connect to it. */
interface World<G extends TestDataPath = TestDataPath> {
  readonly gateway: G;
  readonly upstream: Upstream;
  readonly open: () => Promise<Socket>;
}

async function plain(environment: Record<string, string> = {}): Promise<World> {
  const upstream = await startHangingUpstream();
  const gateway = opened(
    await startTestDataPath({ upstreams: [upstream.url] }, { clock, environment }),
  );
  return { gateway, upstream, open: async () => (await rawConnection(gateway.port)).socket };
}

async function secure(environment: Record<string, string> = {}): Promise<World<SecureDataPath>> {
  const upstream = await startHangingUpstream();
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
  return { gateway, upstream, open };
}

async function tcp(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined).resume();
  await once(socket, 'connect');
  return socket;
}

function send({ gateway }: World, socket: Socket, target: string, more: string[] = []): void {
  const lines = ['Host: gateway.test', `Authorization: Bearer ${gateway.token}`, ...more];
  socket.write(requestText({ target: `/v1/proxy/test${target}`, lines }));
}

async function hang(world: World, socket: Socket): Promise<void> {
  send(world, socket, '/hang');
  await eventually(() => expect(world.upstream.seen).toHaveLength(1));
}

async function closed(socket: Socket): Promise<void> {
  if (!socket.closed) await once(socket, 'close');
}

/** Holds the equation of all connections, and waits for what they have become. */
async function counts({ gateway }: World, expected: Partial<CountedConnections>): Promise<void> {
  await eventually(async () => {
    const now = await countedConnections(gateway.registry);
    const unanswered = Object.values(now.unanswered).reduce((sum, count) => sum + count, 0);
    expect(now.answered + unanswered + now.open).toBe(now.accepted);
    expect(now).toEqual({ answered: 0, open: 0, unanswered: {}, ...expected });
  });
}

/** How one connection ends, and as what it is counted: as answered, or by the reason why not. */
type Ending = [
  result: string,
  what: string,
  end: (world: World, socket: Socket) => Promise<void> | undefined,
];

const PART_OF_HEAD = 'GET / HTTP/1.1\r\nHost:';

async function arrived({ gateway }: World, socket: Socket): Promise<void> {
  await eventually(async () => {
    expect((await countedConnections(gateway.registry)).open).toBe(1);
    expect(socket.writableLength).toBe(0);
  });
}

const ENDINGS: readonly Ending[] = [
  [
    'closed_before_request',
    'closed before a byte',
    (_world, socket) => {
      socket.end();
      return undefined;
    },
  ],
  [
    'closed_in_head',
    'closed within the head',
    (_world, socket) => {
      socket.end(PART_OF_HEAD);
      return undefined;
    },
  ],
  [
    'closed_in_request',
    'closed while its request is handled',
    async (world, socket) => {
      await hang(world, socket);
      socket.end();
    },
  ],
  ['idle_timeout', 'idle before the first byte', (_world, socket) => closed(socket)],
  [
    'head_timeout',
    'idle within the head',
    async (_world, socket) => {
      socket.write(PART_OF_HEAD);
      await closed(socket);
    },
  ],
  [
    'internal_error',
    'ended by an internal error',
    async (world, socket) => {
      bug = true;
      send(world, socket, '');
      await closed(socket);
    },
  ],
  [
    'answered',
    'closed after a response',
    async (world, socket) => {
      send(world, socket, '');
      await once(socket, 'data');
      socket.end();
    },
  ],
  [
    'answered',
    'closed within its response',
    async (world, socket) => {
      send(world, socket, '/begin/hang');
      await once(socket, 'data');
      socket.end();
    },
  ],
  [
    'answered',
    'refused as malformed',
    async (_world, socket) => {
      socket.write('not HTTP\r\n\r\n');
      await closed(socket);
    },
  ],
  [
    'answered',
    'refused an upgrade',
    async (world, socket) => {
      send(world, socket, '', UPGRADE);
      await closed(socket);
    },
  ],
];

const RESETS: readonly Ending[] = [
  [
    'reset_before_request',
    'reset before a byte',
    async (world, socket) => {
      await arrived(world, socket);
      socket.resetAndDestroy();
    },
  ],
  [
    'reset_before_request',
    'reset before the gateway has accepted it',
    (_world, socket) => {
      socket.resetAndDestroy();
      return undefined;
    },
  ],
  [
    'reset_in_request',
    'reset while its request is handled',
    async (world, socket) => {
      await hang(world, socket);
      socket.resetAndDestroy();
    },
  ],
];

function environmentOf(result: string): Record<string, string> {
  return result.endsWith('_timeout') ? { KEEP_ALIVE_TIMEOUT_MS: '200' } : {};
}

async function countsOne(world: World, result: string): Promise<void> {
  if (result === 'answered') await counts(world, { accepted: 1, answered: 1 });
  else await counts(world, { accepted: 1, unanswered: { [result]: 1 } });
}

describe('a connection is counted once, by what became of it', () => {
  it.each([...ENDINGS, ...RESETS])('over HTTP/1.1: %s if %s', async (result, _what, end) => {
    const world = await plain(environmentOf(result));
    await end(world, await world.open());
    await countsOne(world, result);
  });

  it.each(ENDINGS)('over HTTP/1.1 and TLS: %s if %s', async (result, _what, end) => {
    const world = await secure(environmentOf(result));
    await end(world, await world.open());
    await countsOne(world, result);
  });

  it.each<Ending>([
    [
      'tls_failed',
      'it does not speak TLS',
      (_world, socket) => {
        socket.write('GET / HTTP/1.1\r\n\r\n');
        return undefined;
      },
    ],
    [
      'closed_before_request',
      'closed before a byte',
      (_world, socket) => {
        socket.end();
        return undefined;
      },
    ],
    [
      'reset_before_request',
      'reset before a byte',
      async (world, socket) => {
        await arrived(world, socket);
        socket.resetAndDestroy();
      },
    ],
    ['idle_timeout', 'idle before a byte', (_world, socket) => closed(socket)],
  ])('within a TLS handshake: %s if %s', async (result, _what, end) => {
    const world = await secure({ HEADERS_TIMEOUT_MS: result === 'idle_timeout' ? '200' : '60000' });
    await end(world, await tcp(world.gateway.port));
    await countsOne(world, result);
  });
});

type Http2Ending = [
  result: string,
  what: string,
  end: (world: World<SecureDataPath>) => Promise<void>,
];

async function http2Session(world: World<SecureDataPath>) {
  const session = world.gateway.connectHttp2();
  session.on('error', () => undefined);
  await once(session, 'remoteSettings');
  return session;
}

describe('a connection of HTTP/2 is counted once, by what became of it', () => {
  it.each<Http2Ending>([
    [
      'closed_before_request',
      'closed before a request',
      async (world) => {
        (await http2Session(world)).close();
      },
    ],
    [
      'idle_timeout',
      'idle before a request',
      async (world) => {
        await once(await http2Session(world), 'close');
      },
    ],
    [
      'closed_in_request',
      'closed while its request is handled',
      async (world) => {
        const session = await http2Session(world);
        const authorization = `Bearer ${world.gateway.token}`;
        const request = session.request({ ':path': '/v1/proxy/test/hang', authorization });
        request.on('error', () => undefined).end();
        await eventually(() => expect(world.upstream.seen).toHaveLength(1));
        session.destroy();
      },
    ],
    [
      'http2_error',
      'it breaks the protocol',
      async ({ gateway }) => {
        const connection = await frameConnection(gateway.port, gateway.authority.certPem);
        connection.sendAll([frame(FRAME.settings, 0, 1, Buffer.alloc(0))]);
        await eventually(() => expect(connection.closed).toBe(true));
      },
    ],
    [
      'internal_error',
      'ended by an internal error',
      async (world) => {
        const session = await http2Session(world);
        bug = true;
        session.request({ ':path': '/' }).on('error', () => undefined);
        await once(session, 'close');
      },
    ],
    [
      'answered',
      'closed after a response',
      async (world) => {
        const session = await http2Session(world);
        await http2Call(session, { authorization: `Bearer ${world.gateway.token}` });
        session.close();
      },
    ],
  ])('%s if %s', async (result, _what, end) => {
    const world = await secure(environmentOf(result));
    await end(world);
    await countsOne(world, result);
  });
});

describe('the counts of all connections add up', () => {
  it('while some are open, and others were refused above a limit', async () => {
    const world = await plain({ MAX_CONNECTIONS_PER_ADDRESS: '3' });
    const sockets = [await world.open(), await world.open(), await world.open()];
    await counts(world, { accepted: 3, open: 3 });
    await closed(await tcp(world.gateway.port));
    await counts(world, { accepted: 4, open: 3, unanswered: { too_many_of_address: 1 } });
    const [asking, leaving] = sockets;
    if (asking !== undefined) send(world, asking, '');
    leaving?.end();
    const unanswered = { too_many_of_address: 1, closed_before_request: 1 };
    await counts(world, { accepted: 4, open: 2, unanswered });
    for (const socket of sockets) socket.end();
    unanswered.closed_before_request = 2;
    await counts(world, { accepted: 4, answered: 1, unanswered });
  });

  it.each([
    ['HTTP/1.1', plain],
    ['HTTP/1.1 over TLS', secure],
  ] as const)('after a drain, which ends idle connections and requests: %s', async (_of, start) => {
    const world = await start({ DRAIN_GRACE_MS: '0', DRAIN_TIMEOUT_MS: '100' });
    await world.open();
    await hang(world, await world.open());
    await counts(world, { accepted: 2, open: 2 });
    await world.gateway.stop();
    await counts(world, { accepted: 2, unanswered: { drained: 2 } });
  });
});
