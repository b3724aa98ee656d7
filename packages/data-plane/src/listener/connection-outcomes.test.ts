import { once } from 'node:events';
import { Server, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, it, jest } from '@jest/globals';
import { closeAfterEach } from '@gateway/shared/test/opened';
import {
  arrived,
  closed,
  counts,
  countsOne,
  environmentOf,
  hang,
  plain,
  secure,
  send,
  tcp,
  type World,
} from '../../test/connection-world.ts';

const opened = closeAfterEach();
const UPGRADE = [
  ...['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];

/** How one connection ends, and as what it is counted: as answered, or by the reason why not. */
type Ending = [
  result: string,
  what: string,
  end: (world: World, socket: Socket) => Promise<void> | undefined,
];

const PART_OF_HEAD = 'GET / HTTP/1.1\r\nHost:';

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
      world.fail();
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

describe('a connection is counted once, by what became of it', () => {
  it.each([...ENDINGS, ...RESETS])('over HTTP/1.1: %s if %s', async (result, _what, end) => {
    const world = await plain(opened, environmentOf(result));
    await end(world, await world.open());
    await countsOne(world, result);
  });

  it.each(ENDINGS)('over HTTP/1.1 and TLS: %s if %s', async (result, _what, end) => {
    const world = await secure(opened, environmentOf(result));
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
    const world = await secure(opened, {
      HEADERS_TIMEOUT_MS: result === 'idle_timeout' ? '200' : '60000',
    });
    await end(world, await tcp(world.gateway.port));
    await countsOne(world, result);
  });
});

it('a connection that the process cannot accept is counted, and not as accepted', async () => {
  const listening = jest.spyOn(Server.prototype, 'listen');
  const world = await plain(opened);
  const servers = listening.mock.contexts as unknown as Server[];
  const server = servers.find((one) => portOf(one) === world.gateway.port);
  listening.mockRestore();
  // As Node reports that the operating system could not give it a connection.
  server?.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' }));
  const metrics = await world.gateway.registry.metrics();
  expect(metrics).toContain('\ngateway_connections_not_accepted_total 1\n');
  await counts(world, { accepted: 0 });
});

function portOf(server: Server): number | undefined {
  return (server.address() as AddressInfo | null)?.port;
}

describe('the counts of all connections add up', () => {
  it('while some are open, and others were refused above a limit', async () => {
    const world = await plain(opened, { MAX_CONNECTIONS_PER_ADDRESS: '3' });
    const sockets = [await world.open(), await world.open(), await world.open()];
    await counts(world, { accepted: 3, open: 3 });
    await closed(await tcp(world.gateway.port));
    await counts(world, { accepted: 4, open: 3, unanswered: { too_many_of_address: 1 } });
    const [asking, leaving] = sockets;
    if (asking === undefined || leaving === undefined) throw new Error('not open');
    const answer = once(asking, 'data');
    send(world, asking, '');
    // A caller that ends its side before the response would be another case.
    await answer;
    leaving.end();
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
    const world = await start(opened, { DRAIN_GRACE_MS: '0', DRAIN_TIMEOUT_MS: '100' });
    await world.open();
    await hang(world, await world.open());
    await counts(world, { accepted: 2, open: 2 });
    await world.gateway.stop();
    await counts(world, { accepted: 2, unanswered: { drained: 2 } });
  });
});
