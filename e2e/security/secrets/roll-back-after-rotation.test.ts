import { randomBytes } from 'node:crypto';
import { createTestAuthority } from '@gateway/shared/test/certificates';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../../harness/gateway.ts';
import { reencrypt } from './reencrypt.ts';

const startTimeoutMs = 90_000;
const wait = { headers: { prefer: 'wait=20' } };
const environment = 'production';
const authority = createTestAuthority('upstreams');

/** The history is not re-encrypted: docs/run/security.md. */
describe('a rollback after a rotation of the master key', () => {
  let gateway: Gateway;
  const newKey = `k2:${randomBytes(32).toString('base64')}`;
  const withKeys = (keys: string) => ({ env: { GATEWAY_MASTER_KEYS: keys } });
  beforeAll(async () => {
    gateway = await startGateway({
      dataPlaneStart: ({ masterKeys }) => withKeys(`${masterKeys},${newKey}`),
    });
  }, startTimeoutMs);
  afterAll(() => gateway.close());

  const newest = async () => {
    const path = `/v1/config/versions?environment=${environment}&limit=1`;
    return Number((await gateway.admin.get(path)).page().data[0]?.['version']);
  };
  const change = async (id: string, body: object) => {
    const answer = await gateway.admin.patch(`/v1/services/${id}`, body, wait);
    expect([answer.status, answer.headers.get('preference-applied')]).toEqual([200, 'wait=20']);
  };
  const rollBack = (version: number) =>
    gateway.admin.post('/v1/config/rollback', { environment, version }, wait);
  const services = async () => (await gateway.admin.get('/v1/services')).page().data;

  it(
    'restores re-encrypted secrets, and is refused without any change if a secret of that version cannot be decrypted',
    async () => {
      const { stack, admin, upstream } = gateway;
      const bearer = (token: string) => ({ type: 'bearer', token });
      const kept = await gateway.service({ credential: bearer('same-as-ever') });
      const route = await gateway.route({ service_id: kept.id });
      const { certPem: cert_pem, keyPem: key_pem } = authority.issue(['client.test']);
      const client_certificate = { cert_pem, key_pem };
      const mutual = await gateway.service({
        url: 'https://127.0.0.1:9',
        tls: { client_certificate },
      });
      const replaced = await gateway.service({ credential: bearer('of-then') });
      await change(kept.id, { health_path: '/first' });
      const before = await newest();
      await change(replaced.id, { credential: bearer('of-now') });
      await change(mutual.id, { tls: { client_certificate: null } });
      const between = await newest();
      await change(kept.id, { health_path: '/second' });

      const env = { DATABASE_URL: stack.databaseUrl };
      const both = `${newKey},${stack.masterKeys}`;
      const done = await reencrypt({ ...env, GATEWAY_MASTER_KEYS: both });
      expect({ ...done }).toMatchObject({
        code: 0,
        output: expect.stringMatching(/^re-encrypted: 2;/),
      });
      const [port] = gateway.controlPlane.ports;
      if (port === undefined) throw new Error('the control plane has no port');
      await gateway.controlPlane.stop();
      await stack.startControlPlane({ ...withKeys(newKey), port });
      const { baseUrl } = await stack.startDataPlane(withKeys(newKey));

      const then = await services();
      const refused = await rollBack(before);
      expect(refused.status).toBe(409);
      expect(refused.json()).toMatchObject({ error: { code: 'config_version_not_restorable' } });
      for (const { name } of [replaced, mutual]) {
        expect(refused.body).toContain(`${String(name)} (k1)`);
      }
      expect(refused.body).not.toContain(String(kept['name']));
      expect(await services()).toEqual(then);

      const back = await rollBack(between);
      expect(back.resource()).toMatchObject({ changed: true, services: { updated: 1 } });
      expect((await admin.get(`/v1/services/${kept.id}`)).resource()['health_path']).toBe('/first');
      expect((await admin.at(baseUrl).proxy(String(route['name']))).status).toBe(200);
      expect(upstream.seen.at(-1)?.headers['authorization']).toBe('Bearer same-as-ever');
    },
    startTimeoutMs,
  );
});
