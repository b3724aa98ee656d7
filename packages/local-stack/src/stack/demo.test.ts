import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from '@gateway/client';
import { describe, expect, it } from '@jest/globals';
import { banner } from './banner.ts';
import { ensureDemo } from './demo.ts';

describe('a start with an admin token that is refused', () => {
  it('goes on without the demo', async () => {
    const body = JSON.stringify({ error: { code: 'authentication_failed', message: 'No.' } });
    const api = createServer((_request, response) => {
      response.writeHead(401, { 'content-type': 'application/json' }).end(body);
    }).listen(0, '127.0.0.1');
    await once(api, 'listening');
    const baseUrl = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
    const client = createClient({ baseUrl, token: 'gwt_old' });
    expect(await ensureDemo(client, 'http://127.0.0.1:1', undefined)).toBe('refused');
    api.close();
    api.closeAllConnections();
    await once(api, 'close');
  });

  it('says what to do in place of the token, and shows no call', () => {
    const text = banner({
      baseUrl: 'http://127.0.0.1:8080',
      furtherUrls: [],
      workers: 1,
      controlPlaneUrl: 'http://127.0.0.1:8081',
      adminToken: undefined,
      adminTokenFile: '/data/admin-token',
      defaultEnvironment: 'production',
      dataDir: '/data',
    });
    expect(text).toContain('Admin token    refused; /data/logs/control-plane.log says why.');
    expect(text).toContain('/data/admin-token for a new one, which ends the present one');
    expect(text).not.toContain('curl');
  });
});
