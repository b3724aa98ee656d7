import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createServer, type ServerResponse } from 'node:http';
import { Http2Client } from '@gateway/http/http2/client/client';
import { systemClock } from '@gateway/shared/clock';
import { parseAddressRanges } from '@gateway/shared/net/client-address';
import { METADATA_CIDRS } from '@gateway/shared/net/upstream-addresses';
import type { CompiledUpstream } from '../../routing-table/routing-table.ts';
import { closedPort, listen, startRawUpstream } from '@gateway/shared/test/upstream';
import { guardedLookup } from '../dns/guarded-lookup.ts';
import { UpstreamPools } from '../upstream-pools.ts';
import { createUpstreamCheck } from './check-upstream.ts';

function poolsThatDeny(cidrs: readonly string[]): UpstreamPools {
  const deny = parseAddressRanges(cidrs);
  return new UpstreamPools({
    clock: systemClock,
    deny,
    lookup: guardedLookup(deny),
    http2: new Http2Client({ clock: systemClock, maxWindowBytes: 0 }),
    maxConnections: 10,
    processes: 1,
    connectTimeoutMs: 1000,
    bodyIdleTimeoutMs: 1000,
    internalError: () => undefined,
  });
}

function at(origin: string): CompiledUpstream {
  return {
    key: `svc ups ${origin}`,
    id: 'ups',
    serviceId: 'svc',
    url: `${origin}/base`,
    origin,
    host: new URL(origin).host,
    basePath: '/base',
    region: null,
    weight: 1,
  };
}

describe('a check of an upstream', () => {
  const seen: { url: string; headers: Record<string, unknown>; port: number | undefined }[] = [];
  const pools = poolsThatDeny(METADATA_CIDRS);
  const check = createUpstreamCheck(pools);
  let url = '';
  let close: () => Promise<void>;
  let answer: (response: ServerResponse) => void = (response) => void response.end('ok');
  beforeAll(async () => {
    const server = createServer((request, response) => {
      const { url: path = '', headers, socket } = request;
      seen.push({ url: path, headers, port: socket.remotePort });
      answer(response);
    });
    ({ url, close } = await listen(server));
  });
  afterAll(async () => {
    pools.close();
    await close();
  });

  it('requests the path at the host, without a credential, on a new connection', async () => {
    await check(at(url), '/healthz?deep=1', 1000);
    await check(at(url), '/healthz?deep=1', 1000);
    const [first, second] = seen;
    expect(first?.url).toBe('/healthz?deep=1');
    expect(first?.headers).toEqual({
      host: new URL(url).host,
      accept: '*/*',
      connection: 'close',
      'user-agent': 'gateway-health-check',
    });
    expect(second?.port).not.toBe(first?.port);
  });

  it.each([
    [200, 'good'],
    [204, 'good'],
    [299, 'good'],
    [301, 'bad'],
    [404, 'bad'],
    [500, 'bad'],
    [503, 'bad'],
  ])('regards status %i as %s', async (status, verdict) => {
    answer = (response) => response.writeHead(status).end();
    expect(await check(at(url), '/', 1000)).toEqual({ verdict, detail: `status_${status}` });
  });

  it('needs only the head of the response, however long the body is', async () => {
    const { promise: closed, resolve } = Promise.withResolvers<string>();
    answer = (response) => {
      response.once('close', () => resolve('closed'));
      response.write('so far');
    };
    expect(await check(at(url), '/', 1000)).toMatchObject({ verdict: 'good' });
    expect(await closed).toBe('closed');
  });

  it('fails within its timeout, and reports how', async () => {
    const silent = await startRawUpstream(() => undefined);
    const garbage = await startRawUpstream((socket) => void socket.write('hello\r\n\r\n'));
    const reset = await startRawUpstream((socket) => socket.once('data', () => socket.destroy()));
    const away = `http://127.0.0.1:${await closedPort()}`;
    try {
      const results = await Promise.all(
        [silent.url, garbage.url, reset.url, away].map((one) => check(at(one), '/', 200)),
      );
      expect(results).toEqual([
        { verdict: 'bad', detail: 'attempt_timeout' },
        { verdict: 'bad', detail: 'invalid_response' },
        { verdict: 'bad', detail: 'reset' },
        { verdict: 'unreachable', detail: 'connect_refused' },
      ]);
    } finally {
      await Promise.all([silent.close(), garbage.close(), reset.close()]);
    }
  });

  it('ends at once if it is cancelled', async () => {
    const cut = new AbortController();
    const silent = await startRawUpstream((socket) => socket.once('data', () => cut.abort()));
    const result = check(at(silent.url), '/', 60_000, cut.signal);
    expect(await result).toMatchObject({ detail: 'cancelled' });
    await silent.close();
  });

  it('never connects to a denied address', async () => {
    const guarded = poolsThatDeny(['127.0.0.0/8', '::1/128']);
    const asked = seen.length;
    for (const origin of [url, url.replace('127.0.0.1', 'localhost')]) {
      const result = await createUpstreamCheck(guarded)(at(origin), '/', 1000);
      expect(result).toEqual({ verdict: 'unreachable', detail: 'address_refused' });
    }
    expect(seen).toHaveLength(asked);
    guarded.close();
  });
});
