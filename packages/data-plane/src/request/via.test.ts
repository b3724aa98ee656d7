import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawCall } from '@gateway/shared/test/raw-client';
import { startUpstream, type SeenRequest } from '@gateway/shared/test/upstream';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { startTestDataPath } from '../../test/data-path.ts';

const opened = closeAfterEach();
const PAGE = 'a line that compresses well\n'.repeat(5000);

/** An upstream that, like nginx with `gzip on`, does not compress its response to a request with `Via`. */
async function setUp(sendVia = false) {
  const upstream = opened(
    await startUpstream((seen, response) => {
      const gzip = seen.headers['accept-encoding'] === 'gzip' && seen.headers['via'] === undefined;
      if (gzip) response.setHeader('content-encoding', 'gzip');
      response.end(gzip ? gzipSync(PAGE) : PAGE);
    }),
  );
  const token = createTokenSecret();
  const base = testSnapshot({ upstreams: [upstream.url] }, token);
  const services = base.services.map((service) => ({ ...service, send_via: sendVia }));
  const snapshot = { ...base, services };
  const gateway = opened(await startTestDataPath({ upstreams: [] }, { snapshots: [snapshot] }));
  const call = (port: number, lines: readonly string[] = []) =>
    rawCall(port, { lines: ['Host: gateway.test', 'Accept-Encoding: gzip', ...lines] }, token);
  const arrivals = (name: string) => upstream.seen.map((seen) => arrived(seen, name));
  return { upstream, gateway, call, snapshot, arrivals };
}

function arrived({ rawHeaders }: SeenRequest, name: string): string[] {
  return rawHeaders.filter(
    (_text, at) => rawHeaders[at - 1]?.toLowerCase() === name && at % 2 === 1,
  );
}

describe('Via to upstreams', () => {
  it('is not added by default, so that a caller gets the bytes that it gets direct', async () => {
    const { upstream, gateway, call } = await setUp();
    const direct = await call(upstream.port);
    const routed = await call(gateway.port);
    expect(routed.headers.get('content-encoding')).toBe('gzip');
    expect(routed.body.equals(direct.body)).toBe(true);
    expect(routed.body.length).toBeLessThan(PAGE.length / 50);
  });

  it('names the gateway if the service says so, after those that the request passed before', async () => {
    const { gateway, call, arrivals } = await setUp(true);
    const response = await call(gateway.port);
    expect([response.headers.has('content-encoding'), response.body.length]).toEqual([
      false,
      PAGE.length,
    ]);
    await call(gateway.port, ['Via: 1.0 fred', 'Via: 1.1 other']);
    expect(arrivals('via')).toEqual([['1.1 gateway'], ['1.0 fred, 1.1 other, 1.1 gateway']]);
    expect(arrivals('cdn-loop')).toEqual([['gateway'], ['gateway']]);
  });

  it('and CDN-Loop get no empty element if the field of the caller is empty', async () => {
    const { gateway, call, arrivals } = await setUp(true);
    await call(gateway.port, ['Via:', 'CDN-Loop:']);
    expect([arrivals('via'), arrivals('cdn-loop')]).toEqual([[['1.1 gateway']], [['gateway']]]);
  });

  it('of the caller goes on as it came', async () => {
    const { gateway, call, arrivals } = await setUp();
    await call(gateway.port, ['Via: 1.0 fred', 'via: 1.1 other']);
    await call(gateway.port, ['Via: 1.0 fred', 'Connection: via']);
    expect(arrivals('via')).toEqual([['1.0 fred', '1.1 other'], []]);
  });

  it('follows a change of the service', async () => {
    const { gateway, call, snapshot, arrivals } = await setUp();
    const services = snapshot.services.map((service) => ({ ...service, send_via: true }));
    await gateway.use({ ...snapshot, version: 2, services });
    await call(gateway.port);
    expect(arrivals('via')).toEqual([['1.1 gateway']]);
  });

  it('is not needed to end the loop of a route that leads to its own gateway', async () => {
    const auth = { type: 'none' } as const;
    const gateway = opened(await startTestDataPath({ upstreams: [] }, { snapshots: [] }));
    const upstreams = [`${gateway.url}/v1/proxy/test`];
    await gateway.use(testSnapshot({ upstreams, auth, retry_count: 0 }, createTokenSecret()));
    const response = await fetch(`${gateway.url}/v1/proxy/test`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: 'invalid_request', details: [{ path: 'cdn-loop' }] },
    });
    await gateway.recordOf(response);
    expect(gateway.records).toHaveLength(10);
  });
});
