import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestAuthority } from '@gateway/shared/test/certificates';
import { sql } from 'kysely';
import { startTestApi, type TestApi } from '../../../test/api.ts';
import { configCalls } from '../../../test/config-calls.ts';

let api: TestApi;
beforeEach(async () => void (api = await startTestApi()));
afterEach(() => api.close());

const { service, change, code, rollBack } = configCalls(() => api);

function newPair() {
  const { certPem, keyPem } = createTestAuthority('upstreams').issue(['client.test']);
  return { cert_pem: certPem, key_pem: keyPem };
}

/** The history after a re-encryption and the removal of the old key. */
const loseKey = (secret = 'credential') =>
  sql`UPDATE config_outbox SET before = jsonb_set(before, ${[secret, 'key_id']}::text[], '"gone"')
    WHERE before->${secret}::text <> 'null'`.execute(api.db);

describe('a rollback', () => {
  it('as a dry run is refused as a rollback is', async () => {
    const id = await service('a', { credential: { type: 'bearer', token: 'a-secret' } });
    const version = await api.publish('production');
    await change(`/v1/services/${id}`, { credential: null });
    await loseKey();
    const dry = { body: { dry_run: true } };
    expect(code(await rollBack(version, dry))).toEqual([409, 'config_version_not_restorable']);
    expect(code(await rollBack(version + 5, dry))).toEqual([404, 'config_version_not_found']);
    const headers = { 'if-match': `"${version}"` };
    expect(code(await rollBack(version, { ...dry, headers }))).toEqual([
      412,
      'precondition_failed',
    ]);
    const reach = { environments: ['production'], scopes: ['config:write', 'services:write'] };
    const token = await api.makeToken({ name: 'x', ...reach });
    expect((await rollBack(version, { ...dry, token })).status).toBe(401);
  });

  it('with If-Match happens only from that version, and not while newer changes are unpublished', async () => {
    const id = await service('a');
    const version = await api.publish('production');
    await change(`/v1/services/${id}`, { health_path: '/x' });
    const seen = await api.publish('production');
    const read = await api.call('GET', '/v1/environments/production');
    expect(read.headers.get('etag')).toBe(`"${seen}"`);
    const refusal = async (ifMatch: string) => {
      const {
        status,
        json,
        headers: answered,
      } = await rollBack(version, { headers: { 'if-match': ifMatch } });
      return [status, json.error?.['message'], answered.get('etag')];
    };
    const older = `If-Match does not match the newest revision, whose ETag is "${seen}".`;
    expect(await refusal(`"${version}"`)).toEqual([412, older, `"${seen}"`]);
    await change(`/v1/services/${id}`, { health_path: '/y' });
    const pending = `If-Match names the newest version, ${seen}, but newer changes wait to be published.`;
    expect(await refusal(`"${seen}"`)).toEqual([412, pending, `"${seen}"`]);
    const newest = await api.publish('production');
    const headers = { 'if-match': `"${newest}"` };
    expect((await rollBack(version, { headers })).status).toBe(200);
    expect((await api.call('GET', `/v1/services/${id}`)).json.data).toMatchObject({
      health_path: '/healthz',
    });
  });

  it.each([
    ['credential', 'credential', () => ({ type: 'bearer', token: 'a-secret' })],
    ['tls', 'client_key', () => ({ client_certificate: newPair() })],
  ])(
    'is refused if an old secret cannot be decrypted, and allowed if that secret is still in use: %s',
    async (field, secret, make) => {
      const id = await service('a', { url: 'https://a.example', [field]: make() });
      const version = await api.publish('production');
      await change(`/v1/services/${id}`, { health_path: '/x' });
      await loseKey(secret);
      expect((await rollBack(version)).json.data).toMatchObject({ changed: true });
      await change(`/v1/services/${id}`, { health_path: '/y', [field]: null });
      await loseKey(secret);
      const refused = await rollBack(version);
      expect(code(refused)).toEqual([409, 'config_version_not_restorable']);
      expect(refused.text).toContain('a (gone)');
      const read = await api.call('GET', `/v1/services/${id}`);
      expect(read.json.data).toMatchObject({ health_path: '/y', [field]: null });
    },
  );

  it('needs a token that may write all services and routes', async () => {
    const version = await api.publish('production');
    const scopes = ['config:write', 'services:write', 'routes:write'];
    const status = async (name: string, fields: object) => {
      const full = { environments: ['production'], routes: ['*'], scopes };
      const token = await api.makeToken({ name, ...full, ...fields });
      return (await rollBack(version, { token })).status;
    };
    expect(await status('all', {})).toBe(200);
    for (const lacking of scopes) {
      const others = scopes.filter((scope) => scope !== lacking);
      expect(await status(`without ${lacking.replace(':', ' ')}`, { scopes: others })).toBe(401);
    }
    expect(await status('some routes', { routes: ['a'] })).toBe(401);
    expect(await status('elsewhere', { environments: ['development'] })).toBe(401);
  });
});
