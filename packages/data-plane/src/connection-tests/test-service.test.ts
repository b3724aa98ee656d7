import { createServer as createSecureServer } from 'node:https';
import { randomBytes } from 'node:crypto';
import type { AddressInfo, Socket } from 'node:net';
import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import {
  MAX_QUESTION_AGE_MS,
  type TestedUpstream,
} from '@gateway/shared/connection-tests/test-messages';
import { signQuestion } from '@gateway/shared/connection-tests/signed-question';
import { systemRandom } from '@gateway/shared/ids';
import { CredentialVault } from '@gateway/shared/secrets/upstream-credential';
import type { SnapshotService } from '@gateway/shared/snapshot/schema';
import { createTestAuthority, type TestAuthority } from '@gateway/shared/test/certificates';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { closedPort, startRawUpstream, startUpstream } from '@gateway/shared/test/upstream';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { startTestDataPath, type TestDataPath } from '../../test/data-path.ts';
import { snapshotOf, startBoth, startHttp1 } from '../../test/protocol-world.ts';
import { MAX_TESTS, type TestAnswer } from './test-service.ts';

const bytes = randomBytes(32);
const KEYS = [{ id: 'k1', bytes }];
const environment = { GATEWAY_MASTER_KEYS: `k1:${bytes.toString('base64')}` };
const authority = createTestAuthority('upstreams');
const HOUR_MS = 3_600_000;

const opened = closeAfterEach();

/** A data plane that serves `production`, and denies only the address of metadata services unless said otherwise. */
async function dataPlane(
  denyCidrs?: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<TestDataPath> {
  const path = await startTestDataPath(
    { upstreams: [`http://127.0.0.1:${await closedPort()}`] },
    { environment: { ...environment, ...settings }, ...(denyCidrs && { denyCidrs }) },
  );
  opened({ stop: () => path.stop() });
  return path;
}

function serviceOf(
  urls: readonly string[],
  change: Partial<SnapshotService> = {},
): SnapshotService {
  const [service] = testSnapshot({ upstreams: urls }, createTokenSecret()).services;
  if (service === undefined) throw new Error('a snapshot has a service');
  return { ...service, ...change };
}

function questionOf(service: SnapshotService, change: object = {}): string {
  return JSON.stringify({
    format: 1,
    data_plane: 'test',
    asked_at_ms: Date.now(),
    environment: 'production',
    service,
    ...change,
  });
}

async function test(
  plane: TestDataPath,
  urls: readonly string[],
  change: Partial<SnapshotService> = {},
): Promise<readonly TestedUpstream[]> {
  const answer = await plane.testService(signQuestion(questionOf(serviceOf(urls, change)), KEYS));
  expect(answer.problem).toBeNull();
  return answer.upstreams;
}

async function startSecure(names: readonly string[], untilMs?: number, clientsOf?: TestAuthority) {
  const validity = untilMs === undefined ? {} : { fromMs: untilMs - 100 * HOUR_MS, untilMs };
  const { certPem: cert, keyPem: key } = authority.issue(names, validity);
  const server = createSecureServer({ cert, key, ...ofClients(clientsOf) }, (_request, response) =>
    response.end('ok'),
  );
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  opened({ close: () => new Promise<void>((resolve) => server.close(() => resolve())) });
  return `https://localhost:${port}`;
}

/** A server that requires a certificate of this authority. */
function ofClients(authorityOfClients: TestAuthority | undefined) {
  return (
    authorityOfClients && {
      requestCert: true,
      rejectUnauthorized: true,
      ca: authorityOfClients.certPem,
    }
  );
}

describe('a test of connections', () => {
  it('makes the health check of the service, without a credential, and gives its status', async () => {
    const plane = await dataPlane();
    const upstream = opened(await startUpstream());
    const vault = new CredentialVault(KEYS, systemRandom);
    const service = serviceOf([upstream.url]);
    const credential = vault.seal({ header: 'authorization', value: 'Bearer s3cret' }, service.id);
    const check = { ...service.health_check, path: '/ready' };
    const [result] = await test(plane, [upstream.url], { credential, health_check: check });
    expect(result).toMatchObject({
      outcome: 'healthy',
      detail: 'status_200',
      protocol: 'http1',
      tls_version: null,
      certificate_ends_ms: null,
      tls_error: null,
    });
    expect(result?.connect_ms).toBeGreaterThan(0);
    expect(result?.duration_ms).toBeGreaterThanOrEqual(result?.connect_ms ?? NaN);
    expect(upstream.checks).toEqual(['/ready']);
    expect(plane.logLines.join()).not.toContain('s3cret');
  });

  it('says what health checks will say of any other status, and follows no redirect', async () => {
    const plane = await dataPlane();
    const redirecting = opened(
      await startRawUpstream((socket) => {
        socket.once('data', () => {
          socket.end(
            'HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n',
          );
        });
      }),
    );
    const [result] = await test(plane, [redirecting.url]);
    expect(result).toMatchObject({ outcome: 'unhealthy', detail: 'status_302' });
  });

  it('names the version of HTTP and of TLS, and the end of the certificate', async () => {
    const plane = await dataPlane();
    const both = opened(await startBoth());
    const [{ tls = {} } = {}] = snapshotOf([both.url], 'auto').services;
    const [auto] = await test(plane, [both.url], { protocol: 'auto', tls });
    expect(auto).toMatchObject({ outcome: 'healthy', protocol: 'http2', tls_version: 'TLSv1.3' });
    const untilMs = Math.floor(Date.now() / 1000) * 1000 + 40 * HOUR_MS;
    const url = await startSecure(['localhost'], untilMs);
    const [secure] = await test(plane, [url], { tls: { ca_pem: authority.certPem } });
    expect(secure).toMatchObject({
      outcome: 'healthy',
      protocol: 'http1',
      tls_version: 'TLSv1.3',
      certificate_ends_ms: untilMs,
    });
  });

  it('says why a certificate is not accepted', async () => {
    const plane = await dataPlane();
    const tls = { ca_pem: authority.certPem };
    const expired = await startSecure(['localhost'], Date.now() - HOUR_MS);
    const other = await startSecure(['other.example']);
    const results = await test(plane, [expired, other], { tls });
    expect(results.map(({ outcome, tls_error }) => [outcome, tls_error])).toEqual([
      ['failed', 'CERT_HAS_EXPIRED'],
      ['failed', 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ]);
    const [unknown] = await test(plane, [await startSecure(['localhost'])]);
    expect(unknown).toMatchObject({
      outcome: 'failed',
      detail: 'tls_failed',
      tls_error: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      connect_ms: null,
    });
  });

  it('shows the client certificate of the service, and nothing if its key cannot be decrypted', async () => {
    const plane = await dataPlane();
    const clients = createTestAuthority('clients');
    const url = await startSecure(['localhost'], undefined, clients);
    const { certPem: cert_pem, keyPem } = clients.issue(['gateway']);
    const ca_pem = authority.certPem;
    const withKey = (keys: typeof KEYS) => {
      const key = new CredentialVault(keys, systemRandom).sealClientKey(keyPem, 'svc_test');
      return { tls: { ca_pem, client_certificate: { cert_pem, key } } };
    };
    const [shown] = await test(plane, [url], withKey(KEYS));
    expect(shown).toMatchObject({ outcome: 'healthy' });
    const [without] = await test(plane, [url], { tls: { ca_pem } });
    expect(without).toMatchObject({ outcome: 'failed', detail: 'reset', tls_version: 'TLSv1.3' });
    const [unreadable] = await test(plane, [url], withKey([{ id: 'k9', bytes: randomBytes(32) }]));
    expect(unreadable).toMatchObject({ outcome: 'failed', detail: 'client_key_unreadable' });
  });

  it('says that an upstream without TLS does not speak it', async () => {
    const plane = await dataPlane();
    const upstream = opened(await startUpstream());
    const [result] = await test(plane, [upstream.url.replace('http:', 'https:')]);
    expect(result).toMatchObject({
      outcome: 'failed',
      detail: 'tls_failed',
      tls_error: 'ERR_SSL_WRONG_VERSION_NUMBER',
    });
  });

  it('uses the words of records for the rest', async () => {
    const plane = await dataPlane();
    const plain = opened(await startUpstream());
    const silent = opened(await startRawUpstream((socket) => void socket.resume()));
    const away = `http://127.0.0.1:${await closedPort()}`;
    const nowhere = 'http://nowhere.invalid';
    const service = serviceOf([plain.url]);
    const results = await test(plane, [silent.url, away, nowhere, 'http://169.254.169.254'], {
      health_check: { ...service.health_check, timeout_ms: 300 },
    });
    expect(results.map(({ detail }) => detail)).toEqual([
      'attempt_timeout',
      'connect_refused',
      'name_not_found',
      'address_refused',
    ]);
    const [speaks] = await test(plane, [plain.url], { protocol: 'http2' });
    expect(speaks).toMatchObject({ outcome: 'failed', detail: 'speaks_http1', protocol: 'http2' });
    const http1 = opened(await startHttp1('refuses'));
    const [chosen] = await test(plane, [http1.url], { protocol: 'http2' });
    expect(chosen).toMatchObject({ outcome: 'failed', detail: 'http2_not_chosen' });
  });

  it('never connects to a denied address, whether the URL or a name server has it', async () => {
    const upstream = opened(await startUpstream());
    const plane = await dataPlane(['127.0.0.0/8', '::1/128']);
    const named = upstream.url.replace('127.0.0.1', 'localhost');
    const results = await test(plane, [upstream.url, named]);
    expect(results.map(({ detail }) => detail)).toEqual(['address_refused', 'address_refused']);
    expect(upstream.checks).toEqual([]);
  });

  it('leaves no connection behind that has not opened in time', async () => {
    const plane = await dataPlane(undefined, { CONNECT_TIMEOUT_MS: '60000' });
    const open = new Set<Socket>();
    // It never answers the handshake of TLS.
    const silent = opened(
      await startRawUpstream((socket) => {
        open.add(socket.resume());
        socket.once('close', () => open.delete(socket));
      }),
    );
    const health_check = { ...serviceOf([silent.url]).health_check, timeout_ms: 200 };
    const url = silent.url.replace('http:', 'https:');
    const [result] = await test(plane, [url], { health_check });
    expect(result).toMatchObject({ outcome: 'failed', connect_ms: null });
    await eventually(() => expect(open.size).toBe(0));
  });

  it('is counted, keeps no connection, and writes no record', async () => {
    const plane = await dataPlane();
    const upstream = opened(await startUpstream());
    await test(plane, [upstream.url]);
    expect(plane.records).toEqual([]);
    await eventually(async () => {
      const metrics = await plane.registry.metrics();
      expect(metrics).toContain('gateway_upstream_connections{protocol="http1"} 0');
      expect(metrics).toContain('gateway_connection_tests_total{result="healthy"} 1');
    });
  });
});

describe('a question', () => {
  const ask = async (plane: TestDataPath, signed: string): Promise<TestAnswer['problem']> =>
    (await plane.testService(signed)).problem;

  it('is refused unless a control plane has signed it for this data plane', async () => {
    const plane = await dataPlane();
    const upstream = opened(await startUpstream());
    const text = questionOf(serviceOf([upstream.url]));
    const signed = signQuestion(text, KEYS);
    const other = questionOf(serviceOf([upstream.url]), { data_plane: 'another' });
    const asked = [
      text,
      signed.replace('production', 'development'),
      signQuestion(text, [{ id: 'k1', bytes: randomBytes(32) }]),
      signQuestion(text, [{ id: 'k2', bytes }]),
      signQuestion(other, KEYS),
    ];
    for (const one of asked) expect(await ask(plane, one)).toBe('refused');
    expect(upstream.checks).toEqual([]);
    expect(await ask(plane, signed)).toBeNull();
  });

  it('is refused when it is repeated later', async () => {
    const plane = await dataPlane();
    const upstream = opened(await startUpstream());
    const askedAgo = (ms: number) =>
      ask(
        plane,
        signQuestion(questionOf(serviceOf([upstream.url]), { asked_at_ms: Date.now() - ms }), KEYS),
      );
    expect(await askedAgo(MAX_QUESTION_AGE_MS + 1)).toBe('refused');
    expect(await askedAgo(-2 * MAX_QUESTION_AGE_MS)).toBe('refused');
    expect(upstream.checks).toEqual([]);
    expect(await askedAgo(MAX_QUESTION_AGE_MS / 2)).toBeNull();
  });

  it('is not answered for an environment that this data plane does not serve', async () => {
    const plane = await dataPlane();
    const upstream = opened(await startUpstream());
    const text = questionOf(serviceOf([upstream.url]), { environment: 'elsewhere' });
    expect(await ask(plane, signQuestion(text, KEYS))).toBe('not_served');
    expect(upstream.checks).toEqual([]);
  });

  it('of another format is unreadable', async () => {
    const plane = await dataPlane();
    const text = questionOf(serviceOf(['http://127.0.0.1:1']), { format: 99 });
    expect(await ask(plane, signQuestion(text, KEYS))).toBe('unreadable');
    expect(await ask(plane, signQuestion('{', KEYS))).toBe('unreadable');
  });

  it('is refused and counted while this data plane tests as many connections as it may', async () => {
    const plane = await dataPlane();
    const silent = opened(await startRawUpstream((socket) => void socket.resume()));
    const urls = Array.from({ length: MAX_TESTS }, (_, at) => `${silent.url}/${at}`);
    const service = serviceOf(urls);
    const many = { ...service, health_check: { ...service.health_check, timeout_ms: 200 } };
    const running = ask(plane, signQuestion(questionOf(many), KEYS));
    const one = signQuestion(questionOf(serviceOf([silent.url])), KEYS);
    expect(await ask(plane, one)).toBe('busy');
    expect(await plane.registry.metrics()).toContain(
      'gateway_connection_tests_total{result="refused"} 1',
    );
    expect(await running).toBeNull();
    expect(await ask(plane, one)).toBeNull();
  });
});
