import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { connect as connectSocket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { Http2Client } from '@gateway/http/http2/client/client';
import { systemClock } from '@gateway/shared/clock';
import { parseAddressRanges } from '@gateway/shared/net/client-address';
import { createFetchKeySet } from '../../access/jwt/fetch-key-set.ts';
import { startTestDataPath } from '../../../test/data-path.ts';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawCall } from '@gateway/shared/test/raw-client';
import { startRawUpstream } from '@gateway/shared/test/upstream';
import { createUpstreamCheck } from '../health/check-upstream.ts';
import { guardedLookup, type NameResolver } from './guarded-lookup.ts';
import { UpstreamPools } from '../upstream-pools.ts';

const opened = closeAfterEach();
/** All of loopback is allowed except this address. */
const DENIED = ['169.254.0.0/16', '127.0.0.66/32', '::1/128', 'fe80::/10'];
const NAME = 'upstream.test';

const address = (text: string): LookupAddress => ({
  address: text,
  family: text.includes(':') ? 6 : 4,
});

/** A name whose addresses change: each lookup gets the next answer, the last one stays. */
function changing(...answers: readonly (readonly string[])[]) {
  const asked: string[] = [];
  const resolve: NameResolver = (hostname, _options, callback) => {
    const found = answers[Math.min(asked.length, answers.length - 1)] ?? [];
    asked.push(hostname);
    setImmediate(() => callback(null, found.map(address)));
  };
  return { asked, resolve };
}

/** Answers one request on each connection, then closes it; counts connections by the address reached. */
async function startTarget() {
  const reached: string[] = [];
  const raw = await startRawUpstream((socket) => {
    reached.push(socket.localAddress ?? '');
    socket.once('data', () => {
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok');
    });
  });
  opened(raw);
  return { reached, origin: `http://${NAME}:${raw.port}` };
}

/** Each way in which the gateway connects to a configured name. The functions return the outcome of one attempt. */
const ways = {
  async requests(origin: string, resolve: NameResolver) {
    const gateway = opened(
      await startTestDataPath(
        { upstreams: [origin], retry_count: 0 },
        { resolve, denyCidrs: DENIED },
      ),
    );
    return async () => {
      const response = await gateway.call('test');
      await response.text();
      const [attempt] = (await gateway.recordOf(response)).attempts;
      return attempt?.error ?? 'connected';
    };
  },
  async WebSocket(origin: string, resolve: NameResolver) {
    const gateway = opened(
      await startTestDataPath(
        { upstreams: [origin], retry_count: 0 },
        { resolve, denyCidrs: DENIED },
      ),
    );
    const lines = [
      ...['Host: gateway.test', 'Connection: Upgrade', 'Upgrade: websocket'],
      ...['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='],
    ];
    return async () => {
      const response = await rawCall(gateway.port, { lines }, gateway.token);
      const id = response.headers.get('x-request-id') ?? '';
      const [attempt] = (await gateway.recordOf(id)).attempts;
      return attempt?.error ?? 'connected';
    };
  },
  'health checks'(origin: string, resolve: NameResolver) {
    const deny = parseAddressRanges(DENIED);
    const pools = new UpstreamPools({
      clock: systemClock,
      deny,
      lookup: guardedLookup(deny, resolve),
      http2: new Http2Client({ clock: systemClock, maxWindowBytes: 0 }),
      maxConnections: 2,
      processes: 1,
      connectTimeoutMs: 1000,
      bodyIdleTimeoutMs: 1000,
      internalError: () => undefined,
    });
    opened(pools);
    const check = createUpstreamCheck(pools);
    const upstream = {
      key: origin,
      id: 'ups',
      serviceId: 'svc',
      url: origin,
      origin,
      host: new URL(origin).host,
      basePath: '',
      region: null,
      weight: 1,
    };
    return async () => {
      const { verdict, detail } = await check(upstream, '/healthz', 1000);
      return verdict === 'good' ? 'connected' : detail;
    };
  },
  'key sets'(origin: string, resolve: NameResolver) {
    const deny = parseAddressRanges(DENIED);
    const lookup = guardedLookup(deny, resolve);
    const fetch = createFetchKeySet({ clock: systemClock, deny, lookup });
    return async () =>
      fetch(`${origin}/jwks.json`, new AbortController().signal).then(
        () => 'connected',
        (error: unknown) => String(Reflect.get(Object(error), 'failure')),
      );
  },
};

describe.each(Object.entries(ways))('a name that is used by %s', (_way, connect) => {
  it.each([
    ['a denied address', ['127.0.0.66']],
    ['the metadata service', ['169.254.169.254']],
    ['a denied address in IPv6', ['::ffff:127.0.0.66']],
    ['a denied address behind a translator', ['64:ff9b::a9fe:a9fe']],
    ['a denied address behind 6to4', ['2002:a9fe:a9fe::1']],
    ['link-local IPv6 with a zone', ['fe80::1%lo', '::1%lo']],
    ['denied addresses alone', ['127.0.0.66', '::1', '169.254.169.254']],
  ])('is refused if it resolves to %s', async (_case, addresses) => {
    const { reached, origin } = await startTarget();
    const { resolve } = changing(addresses);
    const attempt = await connect(origin, resolve);
    expect(await attempt()).toBe('address_refused');
    expect(reached).toEqual([]);
  });

  it('is resolved for each connection, and refused as soon as it points to a denied address', async () => {
    const { reached, origin } = await startTarget();
    const { resolve, asked } = changing(['127.0.0.1'], ['127.0.0.66'], ['127.0.0.1']);
    const attempt = await connect(origin, resolve);
    expect([await attempt(), await attempt(), await attempt()]).toEqual([
      'connected',
      'address_refused',
      'connected',
    ]);
    expect(asked).toEqual([NAME, NAME, NAME]);
    expect(reached).toEqual(['127.0.0.1', '127.0.0.1']);
  });

  it('is reached at its allowed addresses, never at a denied one', async () => {
    const { reached, origin } = await startTarget();
    const { resolve } = changing(['127.0.0.66', '::1', '127.0.0.1']);
    const attempt = await connect(origin, resolve);
    expect(await attempt()).toBe('connected');
    expect(reached).toEqual(['127.0.0.1']);
  });
});

describe('the resolver of the system', () => {
  it('cannot allow an address that is denied', async () => {
    const lookup = guardedLookup(parseAddressRanges(['127.0.0.0/8', '::1/128']));
    const socket = connectSocket({ host: 'localhost', port: 9, lookup });
    const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('EADDRREFUSED');
  });
});
