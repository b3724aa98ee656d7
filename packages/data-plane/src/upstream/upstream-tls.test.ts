import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from '@jest/globals';
import { systemRandom } from '@gateway/shared/ids';
import { CredentialVault } from '@gateway/shared/secrets/upstream-credential';
import type { Snapshot, SnapshotTls } from '@gateway/shared/snapshot/schema';
import { createTestAuthority, type TestAuthority } from '@gateway/shared/test/certificates';
import { eventually } from '@gateway/shared/test/eventually';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { WebSocket, WebSocketServer } from 'ws';
import { startTestDataPath, type TestDataPathOptions } from '../../test/data-path.ts';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { expectRefusal } from '@gateway/shared/test/refusal';
import type { NameResolver } from './dns/guarded-lookup.ts';

const bytes = randomBytes(32);
const environment = { GATEWAY_MASTER_KEYS: `k1:${bytes.toString('base64')}` };
const vault = new CredentialVault([{ id: 'k1', bytes }], systemRandom);
const authority = createTestAuthority('upstreams');
const clients = createTestAuthority('clients');
const stranger = createTestAuthority('stranger');

let closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.reverse()) await close();
  closing = [];
});

interface SecureUpstream {
  readonly url: string;
  /** For each request: the name in the client certificate, the server name, the connection, and if it is a health check. */
  readonly seen: {
    client: string | undefined;
    asked: string | false;
    port: number | undefined;
    check: boolean;
  }[];
  readonly server: Server;
}

async function startSecureUpstream(
  names: readonly string[],
  options: { clientsOf?: TestAuthority; validUntilMs?: number } = {},
): Promise<SecureUpstream> {
  const { clientsOf, validUntilMs } = options;
  const { certPem, keyPem } = authority.issue(
    names,
    validUntilMs === undefined ? {} : { fromMs: validUntilMs - 1000, untilMs: validUntilMs },
  );
  const seen: SecureUpstream['seen'] = [];
  const server = createServer(
    {
      cert: certPem,
      key: keyPem,
      requestCert: clientsOf !== undefined,
      ...(clientsOf !== undefined && { ca: clientsOf.certPem, rejectUnauthorized: true }),
    },
    (request, response) => {
      const { socket } = request;
      const { servername: asked } = socket as unknown as { servername: string | false };
      const check = request.headers['user-agent'] === 'gateway-health-check';
      seen.push({ client: peerName(socket), asked, port: socket.remotePort, check });
      response.end('ok');
    },
  );
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(
    () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  );
  const { port } = server.address() as AddressInfo;
  return { url: `https://127.0.0.1:${port}`, seen, server };
}

function peerName(socket: Socket): string | undefined {
  if (!(socket instanceof TLSSocket)) throw new Error('the connection has no TLS');
  const subject = socket.getPeerCertificate().subject as { CN?: string } | undefined;
  return subject?.CN;
}

function withTls(snapshot: Snapshot, tls: SnapshotTls | undefined, version = 1): Snapshot {
  const [service] = snapshot.services;
  if (service === undefined) throw new Error('the snapshot has a service');
  return {
    ...snapshot,
    version,
    services: [{ ...service, ...(tls !== undefined && { tls }) }],
  };
}

async function setUp(
  upstreamUrl: string,
  tls: SnapshotTls | undefined,
  options: TestDataPathOptions = {},
) {
  const token = createTokenSecret();
  const plain = testSnapshot({ upstreams: [upstreamUrl], retry_count: 0 }, token);
  const snapshots = [withTls(plain, tls)];
  const gateway = await startTestDataPath(
    { upstreams: [] },
    { snapshots, environment, ...options },
  );
  closing.push(() => gateway.stop());
  const headers = { authorization: `Bearer ${token}` };
  const call = () => fetch(`${gateway.url}/v1/proxy/test`, { headers });
  return { gateway, call, plain, headers };
}

const clientCertificate = (name: string, by = clients, seal = vault) => {
  const { certPem, keyPem } = by.issue([name]);
  return { cert_pem: certPem, key: seal.sealClientKey(keyPem, 'svc_test') };
};

describe('an upstream with https', () => {
  it('is reached if its certificate is from the authority of the service', async () => {
    const upstream = await startSecureUpstream(['127.0.0.1']);
    const { call } = await setUp(upstream.url, { ca_pem: authority.certPem });
    const response = await call();
    expect([response.status, await response.text()]).toEqual([200, 'ok']);
    expect(upstream.seen).toMatchObject([{ client: undefined, asked: false }]);
  });

  it.each<[string, readonly string[], SnapshotTls | undefined, number | undefined]>([
    ['from an unknown authority', ['127.0.0.1'], undefined, undefined],
    [
      'from another authority than that of the service',
      ['127.0.0.1'],
      { ca_pem: stranger.certPem },
      undefined,
    ],
    ['for another name', ['other.test'], { ca_pem: authority.certPem }, undefined],
    [
      'for another name than server_name',
      ['127.0.0.1'],
      { ca_pem: authority.certPem, server_name: 'pay.test' },
      undefined,
    ],
    ['expired', ['127.0.0.1'], { ca_pem: authority.certPem }, Date.now() - 60_000],
  ])('gets no request if its certificate is %s', async (_case, names, tls, untilMs) => {
    const options = untilMs === undefined ? {} : { validUntilMs: untilMs };
    const upstream = await startSecureUpstream(names, options);
    const { call, gateway } = await setUp(upstream.url, tls);
    const response = await call();
    await expectRefusal(response, 502, 'upstream_unavailable');
    expect(upstream.seen).toEqual([]);
    const record = await gateway.recordOf(response);
    expect(record).toMatchObject({ outcome: 'upstream_unavailable' });
    expect(record.attempts).toMatchObject([{ error: 'tls_failed' }]);
  });

  it('gets server_name in the handshake, and its certificate must match', async () => {
    const upstream = await startSecureUpstream(['pay.test']);
    const tls = { ca_pem: authority.certPem, server_name: 'pay.test' };
    const { call } = await setUp(upstream.url, tls);
    expect((await call()).status).toBe(200);
    expect(upstream.seen).toMatchObject([{ asked: 'pay.test' }]);
  });

  it('gets its host without the trailing dot in the handshake, from requests and health checks', async () => {
    const upstream = await startSecureUpstream(['up.test']);
    const { port } = new URL(upstream.url);
    const resolve: NameResolver = (_name, _options, found) =>
      void setImmediate(() => found(null, [{ address: '127.0.0.1', family: 4 }]));
    const { call, gateway } = await setUp(
      `https://up.test.:${port}`,
      { ca_pem: authority.certPem },
      { resolve, healthChecks: true },
    );
    expect((await call()).status).toBe(200);
    await eventually(() => {
      expect(upstream.seen.map(({ check }) => check).sort()).toEqual([false, true]);
    });
    expect(upstream.seen.map(({ asked }) => asked)).toEqual(['up.test', 'up.test']);
    expect(gateway.records).toMatchObject([{ status: 200, retry_count: 0 }]);
  });

  it('gets the client certificate of the service', async () => {
    const upstream = await startSecureUpstream(['127.0.0.1'], { clientsOf: clients });
    const ca_pem = authority.certPem;
    const { call, gateway, plain } = await setUp(upstream.url, { ca_pem });
    const without = await call();
    expect(without.status).toBe(502);
    await gateway.use(
      withTls(plain, { ca_pem, client_certificate: clientCertificate('one.test') }, 2),
    );
    expect((await call()).status).toBe(200);
    expect(upstream.seen).toMatchObject([{ client: 'one.test' }]);
    const other = clientCertificate('one.test', stranger);
    await gateway.use(withTls(plain, { ca_pem, client_certificate: other }, 3));
    expect((await call()).status).toBe(502);
    expect(upstream.seen).toHaveLength(1);
  });

  it('gets new connections if the settings change, and keeps them if the key is encrypted again', async () => {
    const upstream = await startSecureUpstream(['127.0.0.1'], { clientsOf: clients });
    const ca_pem = authority.certPem;
    const { certPem, keyPem } = clients.issue(['one.test']);
    const sealedNow = () => ({
      ca_pem,
      client_certificate: { cert_pem: certPem, key: vault.sealClientKey(keyPem, 'svc_test') },
    });
    const { call, gateway, plain } = await setUp(upstream.url, sealedNow());
    await (await call()).text();
    await gateway.use(withTls(plain, sealedNow(), 2));
    await (await call()).text();
    await gateway.use(
      withTls(plain, { ca_pem, client_certificate: clientCertificate('two.test') }, 3),
    );
    await (await call()).text();
    const [first, second, third] = upstream.seen;
    expect(second).toEqual(first);
    expect(third?.client).toBe('two.test');
    expect(third?.port).not.toBe(first?.port);
  });

  it('gets no request if the client key cannot be decrypted', async () => {
    const upstream = await startSecureUpstream(['127.0.0.1']);
    const other = new CredentialVault([{ id: 'k2', bytes: randomBytes(32) }], systemRandom);
    const { call } = await setUp(upstream.url, {
      ca_pem: authority.certPem,
      client_certificate: clientCertificate('one.test', clients, other),
    });
    const response = await call();
    expect(response.status).toBe(503);
    expect(upstream.seen).toEqual([]);
  });

  it('is reached with the settings of its service also for WebSocket', async () => {
    const upstream = await startSecureUpstream(['pay.test'], { clientsOf: clients });
    const sockets = new WebSocketServer({ server: upstream.server });
    const names: (string | undefined)[] = [];
    sockets.on('connection', (socket, request) => {
      names.push(peerName(request.socket));
      socket.close();
    });
    const tls = {
      ca_pem: authority.certPem,
      server_name: 'pay.test',
      client_certificate: clientCertificate('one.test'),
    };
    const { gateway, headers, plain } = await setUp(upstream.url, tls);
    const open = async () => {
      const client = new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/proxy/test`, {
        headers,
      });
      client.on('error', () => undefined);
      await new Promise((resolve) => client.once('close', resolve));
    };
    await open();
    expect(names).toEqual(['one.test']);
    await gateway.use(withTls(plain, { ...tls, ca_pem: stranger.certPem }, 2));
    await open();
    expect(names).toEqual(['one.test']);
    await eventually(() => expect(gateway.records.length).toBe(2));
    expect(gateway.records[1]?.attempts[0]).toMatchObject({ error: 'tls_failed' });
  });
});
