import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { requestText } from '@gateway/shared/test/raw-client';
import { startUpstream } from '@gateway/shared/test/upstream';
import { startTestDataPath, type TestDataPath } from '../../test/data-path.ts';
import { startSecureDataPath } from '../../test/secure-data-path.ts';

const opened = closeAfterEach();

/** A response that arrives in one read, so that it ends at once, whether its caller reads it or not. */
const BODY = 'x'.repeat(32 * 1024);
/** Their responses are larger than all buffers of the system. */
const REQUESTS = 1000;

interface Caller {
  readonly gateway: TestDataPath;
  /** For its requests and responses. */
  readonly socket: Socket;
  /** The connection itself, without TLS. */
  readonly tcp: Socket;
}

async function overTcp(environment: Environment, url: string): Promise<Caller> {
  const gateway = opened(await startTestDataPath({ upstreams: [url] }, { environment }));
  const tcp = connectTcp(gateway.port, '127.0.0.1');
  return { gateway, socket: tcp, tcp };
}

async function overTls(environment: Environment, url: string): Promise<Caller> {
  const gateway = opened(await startSecureDataPath({ upstreams: [url] }, { environment }));
  const tcp = connectTcp(gateway.port, '127.0.0.1');
  const socket = connectTls({ socket: tcp, host: '127.0.0.1', ca: gateway.authority.certPem });
  return { gateway, socket, tcp };
}

type Environment = Record<string, string>;

describe.each<[string, (environment: Environment, url: string) => Promise<Caller>]>([
  ['over TCP', overTcp],
  ['over TLS', overTls],
])('a caller that reads nothing of its pipelined responses, %s', (_protocol, open) => {
  it.each<[string, Environment, (caller: Caller) => void, string, string | null]>([
    [
      'resets the connection',
      {},
      ({ tcp }) => void tcp.resetAndDestroy(),
      ...(['client_aborted', null] as const),
    ],
    [
      'is cut because it stalls',
      { BODY_IDLE_TIMEOUT_MS: '2000' },
      () => undefined,
      ...(['rejected', 'response_timeout'] as const),
    ],
    [
      'is cut by a drain',
      { DRAIN_TIMEOUT_MS: '50' },
      ({ gateway }) => void gateway.stop(),
      ...(['rejected', 'gateway_stopping'] as const),
    ],
  ])('and %s causes no further request, and its last one is no success', async (...row) => {
    const [, env, cut, outcome, error_code] = row;
    const upstream = opened(await startUpstream((_seen, response) => void response.end(BODY)));
    const caller = await open(env, upstream.url);
    const { gateway, socket } = caller;
    socket.on('error', () => undefined).pause();
    const lines = ['Host: gateway.test', `Authorization: Bearer ${gateway.token}`];
    socket.write(requestText({ lines }).repeat(REQUESTS));
    try {
      await untilBlocked(
        () => upstream.seen.length,
        () => gateway.records.length,
      );
      const arrivals = upstream.seen.length;
      expect(arrivals).toBeLessThan(REQUESTS);
      cut(caller);
      await eventually(() => expect(gateway.records.length).toBe(arrivals));
      await eventually(async () => expect(await gateway.inFlight()).toBe(0));
      expect(gateway.records.at(-1)).toMatchObject({ status: 200, outcome, error_code });
      expect(upstream.seen.length).toBe(arrivals);
    } finally {
      socket.destroy();
    }
  });
});

/** How many checks in a row must see the same. On a busy machine one request may take as long as some of them. */
const STILL_CHECKS = 8;

/** Resolves when one request more has arrived than has ended, for some time. */
async function untilBlocked(arrived: () => number, ended: () => number): Promise<void> {
  let before = 0;
  let stillChecks = 0;
  await eventually(
    () => {
      const now = arrived();
      const isBlocked = now > 0 && now === before && ended() === now - 1;
      before = now;
      stillChecks = isBlocked ? stillChecks + 1 : 0;
      expect(stillChecks).toBe(STILL_CHECKS);
    },
    { intervalMs: 60 },
  );
}
