import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawCall } from '@gateway/shared/test/raw-client';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { startRawUpstream } from '@gateway/shared/test/upstream';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { startTestDataPath } from '../../test/data-path.ts';
import { credentialStarter, environment, withCredential } from '../../test/credential-world.ts';

const opened = closeAfterEach();
const startWithCredential = credentialStarter();
const NO_AUTH: Partial<SnapshotRoute> = { auth: { type: 'none' } };
const UPGRADE = [
  ...['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
  'Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==',
];

/** An upstream that authenticates connections: the first credential on one names the user of all requests on it. */
async function startNtlmUpstream() {
  const users = new WeakMap<Socket, string>();
  const credentials: string[] = [];
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    const { authorization } = request.headers;
    if (authorization !== undefined) {
      credentials.push(authorization);
      users.set(request.socket, authorization);
    }
    response.end(`user: ${users.get(request.socket) ?? 'nobody'}`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it listens on a port');
  opened({
    close() {
      server.close();
      server.closeAllConnections();
    },
  });
  const url = `http://127.0.0.1:${address.port}`;
  return { url, credentials, requests: () => requests };
}

async function setUp(route: Partial<SnapshotRoute> = NO_AUTH) {
  const upstream = await startNtlmUpstream();
  const gateway = opened(await startTestDataPath({ upstreams: [upstream.url], ...route }));
  const ask = (lines: readonly string[], token?: string) =>
    rawCall(gateway.port, { lines: ['Host: gateway.test', ...lines] }, token);
  return { upstream, gateway, ask };
}

describe('a credential of a caller that authenticates a connection', () => {
  it('never makes another caller the same user', async () => {
    const { ask, upstream } = await setUp();
    expect(await (await ask([])).text()).toBe('user: nobody');
    await ask(['Authorization: NTLM alice']);
    expect(await (await ask([])).text()).toBe('user: nobody');
    expect(upstream.credentials).toEqual([]);
  });

  it.each(['Negotiate', 'NTLM', 'Kerberos', 'Nego2', 'CredSSP', 'nTLm'])(
    'is refused before anything is sent: %s',
    async (scheme) => {
      const { ask, upstream, gateway } = await setUp();
      const response = await ask([`Authorization: ${scheme} TlRMTVNTUAAB`]);
      const error = await expectRefusal(response, 400, 'invalid_request');
      expect(JSON.stringify(error)).not.toContain('TlRM');
      expect(error.message).toMatch(/^The request was refused: authorization must not use /);
      expect(error.details).toEqual([
        {
          path: 'authorization',
          message: expect.stringContaining('which authenticates a connection'),
        },
      ]);
      expect(upstream.requests()).toBe(0);
      expect(await gateway.recordOf(response)).toMatchObject({
        outcome: 'rejected',
        error_code: 'invalid_request',
        error_stage: 'require_credential',
        attempts: [],
        rate_limit: null,
      });
    },
  );

  it('is refused on a route of type api_key and in an upgrade, where Authorization is for the upstream too', async () => {
    const { ask, upstream, gateway } = await setUp({ auth: { type: 'api_key' } });
    const key = `X-API-Key: ${gateway.token}`;
    await expectRefusal(await ask([key, 'Authorization: NTLM a']), 400, 'invalid_request');
    const upgrade = await ask([key, 'Authorization: NTLM a', ...UPGRADE]);
    await expectRefusal(upgrade, 400, 'invalid_request');
    // Who the caller is comes first.
    await expectRefusal(await ask(['Authorization: NTLM a']), 401, 'authentication_failed');
    expect(upstream.requests()).toBe(0);
  });

  it('gets the usual 401 on a route of type token, where it is for the gateway', async () => {
    const { ask } = await setUp({});
    await expectRefusal(await ask(['Authorization: NTLM a']), 401, 'authentication_failed');
  });

  it('uses no quota and no idempotency key', async () => {
    const { ask } = await setUp({
      ...NO_AUTH,
      rate_limit: { limit: 1, window_seconds: 3600, per: 'route', on_store_unavailable: 'share' },
    });
    const key = 'Idempotency-Key: k1';
    await expectRefusal(await ask([key, 'Authorization: NTLM a']), 400, 'invalid_request');
    const response = await ask([key]);
    expect(response.status).toBe(200);
    expect(response.headers.has('idempotent-replayed')).toBe(false);
  });

  it.each([
    ['because Connection names it', ['Connection: Authorization']],
    ['as Proxy-Authorization', ['Proxy-Authorization: NTLM a']],
  ])('is no reason to refuse if it is not for the upstream: %s', async (_why, lines) => {
    const { ask, upstream } = await setUp();
    const own = lines[0]?.startsWith('Proxy') === true ? [] : ['Authorization: NTLM a'];
    expect(await (await ask([...own, ...lines])).text()).toBe('user: nobody');
    expect(upstream.credentials).toEqual([]);
  });

  it('is no reason to refuse if the service has its own Authorization', async () => {
    const { gateway, upstream } = await startWithCredential(
      { header: 'authorization', value: 'Bearer own' },
      { route: NO_AUTH },
    );
    const lines = ['Host: gateway.test', 'Authorization: NTLM a'];
    expect((await rawCall(gateway.port, { lines })).status).toBe(200);
    expect(upstream.seen[0]?.headers.authorization).toBe('Bearer own');
  });
});

/** An upstream that answers each request with these fields. Tells how many connections there were. */
async function startAnswering(status: string, fields: readonly string[]) {
  let connections = 0;
  const head = [`HTTP/1.1 ${status}`, 'Content-Length: 2', ...fields].join('\r\n');
  const upstream = opened(
    await startRawUpstream((socket) => {
      connections += 1;
      socket.on('data', () => socket.write(`${head}\r\n\r\nok`));
    }),
  );
  return { url: upstream.url, connections: () => connections };
}

describe('an upstream connection', () => {
  it.each([
    ['asks to authenticate it', '401 Unauthorized', ['WWW-Authenticate: NTLM']],
    ['asks to authenticate it', '401 Unauthorized', ['WWW-Authenticate: Basic, Negotiate']],
    ['asks a proxy for it', '407 Proxy Authentication Required', ['Proxy-Authenticate: NTLM']],
    ['is the last step of it', '200 OK', ['WWW-Authenticate: Negotiate oYG2']],
    ['says that it is done', '200 OK', ['Persistent-Auth: true']],
  ])('is not used again if a response on it %s: %s %j', async (_what, status, fields) => {
    const upstream = await startAnswering(status, fields);
    const gateway = opened(await startTestDataPath({ upstreams: [upstream.url] }));
    for (let call = 1; call <= 3; call += 1) {
      // Not by fetch, which takes a 407 for an error of the network.
      const response = await rawCall(gateway.port, {}, gateway.token);
      expect(await response.text()).toBe('ok');
      expect(response.status).toBe(Number(status.slice(0, 3)));
      expect(response.headers.has('persistent-auth')).toBe(false);
      expect(upstream.connections()).toBe(call);
    }
  });

  it.each(['Bearer error="invalid_token"', 'Basic realm="x"', 'Digest realm="NTLM", nonce="n"'])(
    'is used again after the challenge %s',
    async (challenge) => {
      const upstream = await startAnswering('401 Unauthorized', [`WWW-Authenticate: ${challenge}`]);
      const gateway = opened(await startTestDataPath({ upstreams: [upstream.url] }));
      for (let call = 0; call < 3; call += 1) {
        const response = await gateway.call('test');
        expect(response.headers.get('www-authenticate')).toBe(challenge);
        await response.text();
      }
      expect(upstream.connections()).toBe(1);
    },
  );

  it('passes the challenge of its upstream on, as it came', async () => {
    const upstream = await startAnswering('401 Unauthorized', ['WWW-Authenticate: NTLM']);
    const gateway = opened(await startTestDataPath({ upstreams: [upstream.url] }));
    const response = await gateway.call('test');
    expect(response.headers.get('www-authenticate')).toBe('NTLM');
  });

  it('is not used again after the credential of a service has authenticated it', async () => {
    const upstream = await startAnswering('200 OK', []);
    const plain = testSnapshot({ upstreams: [upstream.url], ...NO_AUTH }, createTokenSecret());
    const credential = { header: 'authorization', value: 'Negotiate YIIB' };
    const snapshots = [withCredential(plain, credential)];
    const gateway = opened(await startTestDataPath({ upstreams: [] }, { snapshots, environment }));
    for (let call = 1; call <= 3; call += 1) {
      expect((await rawCall(gateway.port, {})).status).toBe(200);
      expect(upstream.connections()).toBe(call);
    }
  });
});
