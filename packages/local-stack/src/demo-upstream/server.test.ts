import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createDemoUpstream } from './server.ts';

describe('the demo upstream', () => {
  const server = createDemoUpstream();
  let base: string;

  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  });

  it('echoes method, path, query, body and the names of headers, but not their values', async () => {
    const response = await fetch(`${base}/a/b?x=1`, {
      method: 'POST',
      headers: { authorization: 'Bearer hidden', 'content-type': 'application/json' },
      body: '{"n":1}',
    });
    const text = await response.text();
    expect(JSON.parse(text)).toMatchObject({
      method: 'POST',
      path: '/a/b',
      query: { x: '1' },
      body: { n: 1 },
    });
    expect(text).toContain('"authorization"');
    expect(text).not.toContain('hidden');
  });

  it.each([204, 304, 404, 503])(
    'answers with the status %d that the path asks for',
    async (code) => {
      expect((await fetch(`${base}/status/${code}`)).status).toBe(code);
    },
  );

  it('sends exactly the number of bytes in the path, and rejects numbers that are too large', async () => {
    const response = await fetch(`${base}/bytes/200001`);
    expect((await response.arrayBuffer()).byteLength).toBe(200_001);
    expect((await fetch(`${base}/bytes/9999999999`)).status).toBe(400);
    expect((await fetch(`${base}/delay/60001`)).status).toBe(400);
    expect((await fetch(`${base}/status/999`)).status).toBe(400);
  });

  it('rejects a body that is too large to echo', async () => {
    const body = 'x'.repeat(8 * 1024 * 1024);
    expect((await fetch(base, { method: 'POST', body })).status).toBe(413);
  });
});
