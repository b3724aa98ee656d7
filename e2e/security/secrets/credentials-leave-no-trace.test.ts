import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { closedPort } from '@gateway/shared/test/upstream';
import { databaseContents } from '@gateway/testing/database-contents';
import { createTestAuthority } from '@gateway/shared/test/certificates';
import { eventually } from '@gateway/shared/test/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Answer } from '../../harness/client.ts';
import { startGateway, type Gateway } from '../../harness/gateway.ts';
import { openWebSocket } from '../../harness/websocket.ts';
import { startWebSocketUpstream } from '../../harness/websocket.ts';
import { reencrypt } from './reencrypt.ts';
import { filesBelow, tracesIn } from './traces.ts';

const startTimeoutMs = 90_000;

const secret = (what: string) => `mark3r-${what}-${randomBytes(12).toString('hex')}`;
const secrets = {
  bearer: secret('bearer'),
  replaced: secret('replaced'),
  password: secret('password'),
  username: secret('username'),
  header: secret('header'),
  refused: secret('refused'),
};
const basicPair = `${secrets.username}:${secrets.password}`;
const authority = createTestAuthority('upstreams');
const clientPair = authority.issue(['client.test']);
const otherPair = authority.issue(['other.test']);
/** The part of a PEM private key that differs from other keys. */
const keyText = (pem: string) => pem.split('\n')[2] ?? '';
/** The base64 of user name and password is sent, so the test searches for its forms too. */
const markers = [
  ...Object.values(secrets),
  Buffer.from(basicPair).toString('base64'),
  keyText(clientPair.keyPem),
  keyText(otherPair.keyPem),
];
/** A text that is not secret and occurs everywhere: a search that finds it would find the secrets too. */
const plainName = `no-secret-${randomBytes(8).toString('hex')}`;

const credentials = {
  bearer: { type: 'bearer', token: secrets.replaced },
  basic: { type: 'basic', username: secrets.username, password: secrets.password },
  header: { type: 'header', name: 'X-Upstream-Key', value: secrets.header },
} as const;

describe('credentials of upstreams, after a run with every operation on them', () => {
  let gateway: Gateway;
  let sockets: Awaited<ReturnType<typeof startWebSocketUpstream>>;
  const answers: Answer[] = [];
  let outputs = '';
  let tables = '';
  let files: ReadonlyMap<string, Buffer>;

  async function refuse(servicePath: string): Promise<void> {
    const { refused } = secrets;
    const bodies: unknown[] = [
      { credential: refused },
      { credential: { type: refused } },
      { credential: { type: 'bearer', token: `${refused}\r\n` } },
      { credential: { type: 'bearer', [refused]: refused } },
      { credential: { type: 'basic', username: `${refused}:`, password: refused } },
      { credential: { type: 'header', name: 'Host', value: refused } },
      { tls: { client_certificate: { cert_pem: clientPair.certPem, key_pem: otherPair.keyPem } } },
      { tls: { client_certificate: { cert_pem: otherPair.keyPem, key_pem: otherPair.keyPem } } },
      { tls: { ca_pem: otherPair.keyPem } },
      { health_path: refused, url: `http://user:${refused}@a.example`, token: refused },
      `{"credential":{"type":"bearer","token":"${refused}`,
    ];
    for (const body of bodies) {
      answers.push(await gateway.admin.call('POST', '/v1/services', { body }));
      answers.push(await gateway.admin.patch(servicePath, body));
    }
    answers.push(await gateway.admin.get(`/v1/services?credential=${refused}`));
    expect(new Set(answers.splice(0).map(keep))).toEqual(new Set([400]));
  }

  /** Stores a response for the search, and returns its status. */
  function keep(answer: Pick<Answer, 'status' | 'headers'> & { body: string | Buffer }): number {
    outputs += `${answer.status} ${JSON.stringify([...answer.headers])} ${answer.body.toString()}\n`;
    return answer.status;
  }

  beforeAll(async () => {
    sockets = await startWebSocketUpstream();
    gateway = await startGateway({ dataPlanes: 2, env: { LOG_LEVEL: 'trace' } });
    const { admin } = gateway;
    const ids: string[] = [];
    for (const [name, credential] of Object.entries(credentials)) {
      const made = await admin.post('/v1/services', {
        name: `${plainName}-${name}`,
        environment: 'production',
        url: gateway.upstream.url,
        credential,
      });
      expect(keep(made)).toBe(201);
      ids.push(made.resource().id);
      await gateway.route({ name, service_id: made.resource().id });
    }
    const [bearer = ''] = ids;
    const token = { type: 'bearer', token: secrets.bearer };
    expect(keep(await admin.patch(`/v1/services/${bearer}`, { credential: token }))).toBe(200);
    await refuse(`/v1/services/${bearer}`);

    const closed = { url: `http://127.0.0.1:${await closedPort()}` };
    const cert = { cert_pem: clientPair.certPem, key_pem: clientPair.keyPem };
    const overTls = gateway.upstream.url.replace('http:', 'https:');
    for (const [name, place] of [
      ['gone', closed],
      ['moved-on', { url: undefined, upstreams: [closed, { url: gateway.upstream.url }] }],
      ['socket', { url: sockets.url }],
      ['no-tls', { url: overTls, tls: { client_certificate: cert } }],
    ] as const) {
      const { id } = await gateway.service({ ...place, credential: token });
      await gateway.route({ name, service_id: id });
    }
    for (const [name, pathBelow] of [
      ['failing', '/status/500'],
      ['retried', '/flaky/2/any'],
      ['redirected', '/status/302'],
      ['late', '/slow/3000'],
    ] as const) {
      const service = { url: gateway.upstream.url + pathBelow, credential: token };
      const { id } = await gateway.service(service);
      await gateway.route({ name, service_id: id, timeout_ms: 500 });
    }
    await gateway.settled();

    const calls = [
      'bearer',
      'basic',
      'header',
      'gone',
      'failing',
      'late',
      'redirected',
      'no-tls',
      ...Array.from({ length: 8 }, () => 'moved-on'),
      'bearer',
      'basic',
      'header',
    ];
    for (const name of calls) keep(await admin.proxy(name));
    keep(await admin.proxy('retried', { method: 'GET' }));
    for (const { baseUrl } of gateway.dataPlanes) {
      const authorization = `Bearer ${admin.token}`;
      expect(keep(await openWebSocket(baseUrl, 'socket', { authorization }))).toBe(101);
      // One upstream cannot be reached; the other one gets no credential.
      keep(await openWebSocket(baseUrl, 'gone', { authorization }));
      keep(await openWebSocket(baseUrl, 'bearer', { authorization }));
      keep(await openWebSocket(baseUrl, 'socket', {}));
    }
    keep(await admin.proxy('bearer', { headers: { 'idempotency-key': 'once' } }));
    keep(await admin.proxy('bearer', { headers: { 'idempotency-key': 'once' } }));

    const newKey = `k2:${randomBytes(32).toString('base64')}`;
    const GATEWAY_MASTER_KEYS = `${newKey},${gateway.stack.masterKeys}`;
    const DATABASE_URL = gateway.stack.databaseUrl;
    for (const keys of [newKey, GATEWAY_MASTER_KEYS, GATEWAY_MASTER_KEYS]) {
      outputs += (await reencrypt({ DATABASE_URL, GATEWAY_MASTER_KEYS: keys })).output;
    }
    const recent = await eventually(async () => {
      const list = await admin.get('/v1/requests?limit=200');
      if (list.page().data.length < calls.length)
        throw new Error('some records are not stored yet');
      return list;
    });
    keep(recent);
    for (const listed of ['/v1/services?limit=200', '/v1/routes', '/v1/openapi.json']) {
      keep(await admin.get(listed));
    }
    keep(await admin.get('/v1/audit-events?limit=200'));
    const planes = [...gateway.dataPlanes, gateway.controlPlane];
    for (const { adminUrl } of planes) {
      for (const page of ['metrics', 'readyz']) {
        outputs += await (await fetch(`${adminUrl}/${page}`)).text();
      }
    }
    for (const plane of planes) await plane.stop();
    tables = await databaseContents(gateway.stack.databaseUrl);
    // The folder of the whole run: the files and logs of Postgres, and in tmp those of the stack.
    files = await filesBelow(path.dirname(tmpdir()));
  }, startTimeoutMs);
  afterAll(async () => {
    await gateway.close();
    await sockets.close();
  });

  it('have reached their upstreams', () => {
    const seen = (name: string, value: string) =>
      gateway.upstream.seen.filter(({ headers }) => headers[name] === value).length;
    expect(seen('authorization', `Bearer ${secrets.bearer}`)).toBeGreaterThanOrEqual(6);
    expect(seen('authorization', `Bearer ${secrets.replaced}`)).toBe(0);
    const overWebSocket = sockets.seen.map(({ headers }) => headers.authorization);
    expect(overWebSocket).toEqual(gateway.dataPlanes.map(() => `Bearer ${secrets.bearer}`));
    const basic = `Basic ${Buffer.from(basicPair).toString('base64')}`;
    expect(seen('authorization', basic)).toBe(2);
    expect(seen('x-upstream-key', secrets.header)).toBe(2);
  });

  it('are in no row of any table', () => {
    expect(tables).toContain(plainName);
    expect(tracesIn(tables, markers)).toEqual([]);
  });

  it('are in no response of the API, no metric and no output of a command', () => {
    expect(outputs).toContain(plainName);
    expect(outputs).toContain('under the key k2: ');
    expect(tracesIn(outputs, markers)).toEqual([]);
  });

  it.each([
    ['Postgres', /\/postgres\/.*\/(base|pg_wal)\//, true],
    ['NATS', /\/nats\/jetstream\//, false],
    ['the last good configuration', /\/last-good\/.*(\(unpacked\)|\.deltas)$/, true],
    ['the logs of every process', /\/logs\/.*\.log$/, false],
  ])('are in no file of %s', (_what, pattern, holdsName) => {
    const found = [...files].filter(([file]) => pattern.test(file));
    expect(found.length).toBeGreaterThan(0);
    const named = found.filter(([, content]) => content.includes(plainName));
    if (holdsName) expect(named.length).toBeGreaterThan(0);
    for (const [file, content] of found) {
      expect({ file, traces: tracesIn(content, markers) }).toEqual({ file, traces: [] });
    }
  });

  it('are in no other file of the run', () => {
    for (const [file, content] of files) {
      expect({ file, traces: tracesIn(content, markers) }).toEqual({ file, traces: [] });
    }
  });
});
