import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startNats } from '@gateway/local-stack/nats/start-nats';
import { createTestAuthority } from '@gateway/shared/test/certificates';
import { eventually } from '@gateway/shared/test/eventually';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Client } from '../harness/client.ts';
import { startGateway, type Gateway } from '../harness/gateway.ts';

const startTimeoutMs = 90_000;

const authority = createTestAuthority('nats');
const { certPem, keyPem } = authority.issue(['localhost']);
/** Begins with a digit: nats-server would read it as a number if the variable were not quoted. */
const newPassword = () => `4${randomBytes(12).toString('hex')}`;
const passwords = {
  CONTROL_PLANE_NATS_PASSWORD: newPassword(),
  DATA_PLANE_NATS_PASSWORD: newPassword(),
};
const quoted = Object.fromEntries(
  Object.entries(passwords).map(([name, password]) => [name, `"${password}"`]),
);
const deployed = fileURLToPath(new URL('../../deploy/nats/', import.meta.url));

/** Subjects on which a data plane could change configuration, take records or ask others if the rights allowed it. */
const DENIED = [
  '$KV.gateway_config.production',
  '$O.gateway_snapshots.C.any',
  '$O.gateway_snapshots.M.any',
  'gateway.config.log.production',
  'gateway.explain.another',
  'gateway.connection-tests.another',
  '$JS.API.STREAM.CREATE.KV_gateway_config',
  '$JS.API.STREAM.UPDATE.KV_gateway_config',
  '$JS.API.STREAM.DELETE.KV_gateway_config',
  '$JS.API.STREAM.PURGE.OBJ_gateway_snapshots',
  '$JS.API.STREAM.MSG.DELETE.KV_gateway_config',
  '$JS.API.CONSUMER.MSG.NEXT.GATEWAY_RECORDS.record_ingest',
  '$JS.API.CONSUMER.CREATE.GATEWAY_RECORDS.mine',
  '$JS.API.CONSUMER.DELETE.GATEWAY_RECORDS.record_ingest',
];

/** With TLS and the rights of deploy/nats/rights.conf, as in a cluster. */
describe('a NATS server that requires TLS, user and password', () => {
  let folder: string;
  let nats: Awaited<ReturnType<typeof startNats>>;
  let gateway: Gateway;
  let traffic: Client;
  let dataPlane: Awaited<ReturnType<Gateway['stack']['startDataPlane']>>;

  const urlOf = (user: string, password: string) =>
    `tls://${user}:${password}@localhost:${nats.port}`;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'nats-rights-'));
    const file = (name: string) => path.join(folder, name);
    const include = (name: string) => `include '${path.relative(folder, deployed + name)}'`;
    await writeFile(file('cert.pem'), certPem);
    await writeFile(file('key.pem'), keyPem);
    await writeFile(file('ca.pem'), authority.certPem);
    const tls = `tls { cert_file: "${file('cert.pem')}", key_file: "${file('key.pem')}" }`;
    const settings = [include('local.conf'), include('rights.conf'), tls].join('\n');
    await writeFile(file('nats.conf'), settings);
    const user = { user: 'control-plane', pass: passwords.CONTROL_PLANE_NATS_PASSWORD };
    nats = await startNats({
      dataDir: file('data'),
      settingsFile: file('nats.conf'),
      env: quoted,
      access: { ...user, ca: authority.certPem },
      log: () => undefined,
    });
    const trust = { NODE_EXTRA_CA_CERTS: file('ca.pem'), LOG_LEVEL: 'trace' };
    const env = { ...trust, NATS_URL: urlOf(user.user, user.pass) };
    gateway = await startGateway({ dataPlanes: 0, env });
    const NATS_URL = urlOf('data-plane', passwords.DATA_PLANE_NATS_PASSWORD);
    dataPlane = await gateway.stack.startDataPlane({ env: { NATS_URL } });
    traffic = gateway.admin.at(dataPlane.baseUrl);
  }, startTimeoutMs);
  afterAll(async () => {
    await gateway.close();
    await nats.stop();
    await rm(folder, { recursive: true });
  });

  it('allows a data plane all of its work', async () => {
    await gateway.route({ name: 'orders', rate_limit: { limit: 50 } });
    const headers = { 'idempotency-key': 'once' };
    const answer = await eventually(async () => {
      const one = await traffic.proxy('orders', { headers });
      expect(one.status).toBe(200);
      return one;
    });
    const replayed = await traffic.proxy('orders', { headers });
    expect(replayed.headers.get('idempotent-replayed')).toBe('true');
    const id = answer.headers.get('x-request-id') ?? '';
    await eventually(async () =>
      expect((await gateway.admin.get(`/v1/requests/${id}`)).status).toBe(200),
    );
    // The control plane receives its heartbeats, so the status of a service is known.
    await eventually(async () => {
      const { data } = (await gateway.admin.get('/v1/services')).page();
      expect(data.map((service) => service['status'])).toEqual(['healthy']);
    });
    const changed = await gateway.route({ name: 'later' });
    await eventually(async () => expect((await traffic.proxy('later')).status).toBe(200));
    expect(changed['status']).toBe('active');
  });

  it('does not allow a data plane to write configuration or read records', async () => {
    const connection = await asDataPlane();
    try {
      for (const subject of DENIED) {
        const asked = connection.request(subject, '{}', { timeout: 5000 });
        await expect(asked).rejects.toThrow(/permission/i);
      }
      await connection.request('$JS.API.INFO', '', { timeout: 5000 });
    } finally {
      await connection.close();
    }
  });

  it('receives the password over TLS, and no log contains it', async () => {
    const logs = await Promise.all(
      [dataPlane, gateway.controlPlane].map(({ logFile }) => readFile(logFile, 'utf8')),
    );
    for (const log of logs) {
      expect(log).toContain('connected to NATS');
      for (const password of Object.values(passwords)) expect(log).not.toContain(password);
    }
  });

  function asDataPlane(): Promise<NatsConnection> {
    return connect({
      servers: `localhost:${nats.port}`,
      tls: { ca: authority.certPem },
      user: 'data-plane',
      pass: passwords.DATA_PLANE_NATS_PASSWORD,
      reconnect: false,
    });
  }
});
