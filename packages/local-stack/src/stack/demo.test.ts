import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from '@gateway/client';
import { describe, expect, it } from '@jest/globals';
import { ensureDemo } from './demo.ts';

describe('the demo route', () => {
  it('says where to set the admin token if its secret is refused', async () => {
    const body = JSON.stringify({ error: { code: 'authentication_failed', message: 'No.' } });
    const api = createServer((_request, response) => {
      response.writeHead(401, { 'content-type': 'application/json' }).end(body);
    }).listen(0, '127.0.0.1');
    await once(api, 'listening');
    const baseUrl = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
    const client = createClient({ baseUrl, token: 'gwt_old' });
    const url = 'http://127.0.0.1:1';
    await expect(ensureDemo(client, url, undefined, '/data/admin-token')).rejects.toThrow(
      /^the demo route could not be created: the admin token was revoked or replaced; set GATEWAY_ADMIN_TOKEN .* or delete \/data\/admin-token for a new one$/,
    );
    api.close();
    api.closeAllConnections();
    await once(api, 'close');
  });
});
