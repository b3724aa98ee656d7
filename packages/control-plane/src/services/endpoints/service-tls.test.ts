import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { systemRandom } from '@gateway/shared/ids';
import { CredentialVault } from '@gateway/shared/secrets/upstream-credential';
import { createTestAuthority } from '@gateway/shared/test/certificates';
import { reencryptClientKeys } from '../store/reencrypt.ts';
import { startTestApi, type Answer, type TestApi } from '../../../test/api.ts';

const authority = createTestAuthority('upstreams');
const pair = authority.issue(['client.test']);
const other = authority.issue(['other.test']);
const client_certificate = { cert_pem: pair.certPem, key_pem: pair.keyPem };
const keyLine = (pem: string) => pem.split('\n')[1] ?? '';

describe('the TLS settings of a service', () => {
  let api: TestApi;
  let made = 0;
  beforeAll(async () => void (api = await startTestApi()));
  afterAll(() => api.close());

  async function make(tls?: unknown): Promise<Answer & { path: string; id: string }> {
    const name = `service ${(made += 1)}`;
    const body = { name, environment: 'production', url: 'https://pay.example', tls };
    const answer = await api.call('POST', '/v1/services', { body });
    const id = answer.json.data?.id ?? '';
    return { ...answer, path: answer.headers.get('location') ?? '', id };
  }

  const patch = (path: string, tls: unknown) => api.call('PATCH', path, { body: { tls } });
  const stored = (id: string) =>
    api.db.selectFrom('services').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

  it('are shown without the private key, which is stored encrypted', async () => {
    const tls = { ca_pem: authority.certPem, server_name: 'pay.test', client_certificate };
    const service = await make(tls);
    expect(service.status).toBe(201);
    expect(service.json.data?.['tls']).toEqual({
      ca_pem: authority.certPem,
      server_name: 'pay.test',
      client_certificate: { cert_pem: pair.certPem, set_at: '2030-01-01T00:00:00.000Z' },
    });
    const events = await api.call('GET', `/v1/audit-events?resource_id=${service.id}`);
    const row = JSON.stringify(await stored(service.id));
    for (const text of [service.text, events.text, row]) {
      expect(text).not.toContain(keyLine(pair.keyPem));
      expect(text).not.toContain('PRIVATE');
    }
    expect((await make()).json.data?.['tls']).toBeNull();
  });

  it('are merged by a PATCH, and removed by null', async () => {
    const { path, id } = await make({ client_certificate });
    const key = (await stored(id)).client_key;
    const named = await patch(path, { server_name: 'pay.test' });
    expect(named.json.data?.['tls']).toMatchObject({
      ca_pem: null,
      server_name: 'pay.test',
      client_certificate: { cert_pem: pair.certPem },
    });
    expect((await stored(id)).client_key).toEqual(key);
    const without = await patch(path, { client_certificate: null });
    expect(without.json.data?.['tls']).toEqual({
      ca_pem: null,
      server_name: 'pay.test',
      client_certificate: null,
    });
    expect((await stored(id)).client_key).toBeNull();
    expect((await patch(path, { server_name: null })).json.data?.['tls']).toBeNull();
    await patch(path, { client_certificate });
    expect((await patch(path, null)).json.data?.['tls']).toBeNull();
    expect(await stored(id)).toMatchObject({ tls: null, client_key: null });
  });

  it.each<[string, unknown, string]>([
    ['an authority that is no certificate', { ca_pem: 'nonsense' }, 'tls.ca_pem'],
    ['a key where a certificate belongs', { ca_pem: pair.keyPem }, 'tls.ca_pem'],
    ['a key beside a certificate', { ca_pem: pair.certPem + pair.keyPem }, 'tls.ca_pem'],
    ['NUL beside an authority', { ca_pem: `\0${pair.certPem}` }, 'tls.ca_pem'],
    ['a lone surrogate beside an authority', { ca_pem: `\ud800${pair.certPem}` }, 'tls.ca_pem'],
    [
      'NUL after the certificate',
      { client_certificate: { ...client_certificate, cert_pem: `${pair.certPem}\0` } },
      'tls.client_certificate.cert_pem',
    ],
    ['an address as the server name', { server_name: '127.0.0.1' }, 'tls.server_name'],
    ['a line break in the server name', { server_name: 'a\r\nb' }, 'tls.server_name'],
    [
      'a certificate without its key',
      { client_certificate: { cert_pem: pair.certPem } },
      'tls.client_certificate.key_pem',
    ],
    [
      'the key of another certificate',
      { client_certificate: { cert_pem: pair.certPem, key_pem: other.keyPem } },
      'tls.client_certificate.key_pem',
    ],
    [
      'an invalid key',
      { client_certificate: { cert_pem: pair.certPem, key_pem: pair.certPem } },
      'tls.client_certificate.key_pem',
    ],
    ['an unknown field', { verify: false }, 'tls.verify'],
  ])('are refused with %s, without repeating it', async (_case, tls, path) => {
    const refused = await make(tls);
    expect(refused.status).toBe(400);
    expect(refused.text).toContain(`"path":"${path}"`);
    expect(refused.text).not.toContain(keyLine(pair.keyPem));
    expect(refused.text).not.toContain(keyLine(other.keyPem));
  });

  it('have their key re-encrypted with the newest master key without a change of settings', async () => {
    const { id } = await make();
    const older = { id: 'old', bytes: randomBytes(32) };
    const newer = { id: 'new', bytes: randomBytes(32) };
    const sealed = new CredentialVault([older], systemRandom).sealClientKey(pair.keyPem, id);
    await api.db.updateTable('services').set({ client_key: null }).execute();
    await api.db
      .updateTable('services')
      .set({ client_key: JSON.stringify(sealed) })
      .where('id', '=', id)
      .execute();
    const vault = new CredentialVault([newer, older], systemRandom);
    const done = { reencrypted: 1, unreadable: [], withNewest: 1, withOthers: 0 };
    expect(await reencryptClientKeys(api.db, vault)).toEqual(done);
    const { client_key: now, revision } = await stored(id);
    expect([now?.key_id, revision]).toEqual(['new', 1]);
    expect(now === null ? '' : vault.openClientKey(now, id)).toBe(pair.keyPem);
    expect(await reencryptClientKeys(api.db, vault)).toEqual({ ...done, reencrypted: 0 });
    const lost = new CredentialVault([older], systemRandom);
    const { unreadable, withOthers } = await reencryptClientKeys(api.db, lost);
    expect([unreadable.length, withOthers]).toEqual([1, 1]);
  });
});
