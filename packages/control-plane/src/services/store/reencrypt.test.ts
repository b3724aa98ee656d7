import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { systemRandom } from '@gateway/shared/ids';
import { CredentialVault } from '@gateway/shared/secrets/upstream-credential';
import { startTestApi, type TestApi } from '../../../test/api.ts';
import { reencryptServices } from './reencrypt-services.ts';
import { reencryptCredentials } from './reencrypt.ts';

const older = { id: 'k1', bytes: randomBytes(32) };
const newer = { id: 'k2', bytes: randomBytes(32) };
const both = new CredentialVault([newer, older], systemRandom);

describe('the re-encryption of credentials', () => {
  let api: TestApi;
  beforeEach(async () => void (api = await startTestApi({ masterKeys: [older] })));
  afterEach(() => api.close());

  async function make(name: string, fields: object): Promise<string> {
    const body = { name, environment: 'production', url: 'http://a.example', ...fields };
    return (await api.call('POST', '/v1/services', { body })).json.data?.id ?? '';
  }
  const bearer = (token: string) => ({ credential: { type: 'bearer', token } });
  const makeMany = (count: number) =>
    Promise.all(
      Array.from({ length: count }, (_none, at) => make(`s${at}`, bearer(`token-${at}`))),
    );

  const rows = () => api.db.selectFrom('services').selectAll().orderBy('id').execute();
  /** The decrypted credentials, by the name of their service. */
  async function credentials(vault = both): Promise<Record<string, string | null>> {
    const entries = (await rows()).map(({ id, name, credential }) => {
      return [name, credential === null ? null : vault.open(credential, id).value];
    });
    return Object.fromEntries(entries) as Record<string, string | null>;
  }
  async function keyIds(): Promise<(string | undefined)[]> {
    return (await rows()).map(({ credential }) => credential?.key_id);
  }
  const pending = () =>
    api.db
      .selectFrom('config_outbox')
      .select(['environment', 'entity_id'])
      .where('action', '=', 'service.reencrypted')
      .execute();

  it('encrypts every credential with the newest key, and changes nothing else', async () => {
    await makeMany(7);
    await make('without', {});
    await make('elsewhere', { environment: 'development', ...bearer('dev') });
    const before = await rows();
    const values = await credentials();
    const done = await reencryptCredentials(api.db, both, 3);
    expect(done).toEqual({ reencrypted: 8, unreadable: [], withNewest: 8, withOthers: 0 });
    expect(await credentials(new CredentialVault([newer], systemRandom))).toEqual(values);
    const sealed = { key_id: expect.any(String), sealed: expect.any(String) };
    expect(await rows()).toEqual(
      before.map((row) =>
        row.credential === null ? row : { ...row, credential: { ...row.credential, ...sealed } },
      ),
    );
    const again = await reencryptCredentials(api.db, both);
    expect(again).toEqual({ ...done, reencrypted: 0 });
  });

  it('publishes each service in the same transaction', async () => {
    await makeMany(5);
    await make('elsewhere', { environment: 'development', ...bearer('dev') });
    await reencryptCredentials(api.db, both, 10);
    const published = (await pending()).map(({ environment, entity_id }) => [
      environment,
      entity_id,
    ]);
    const stored = (await rows()).map(({ environment, id }) => [environment, id]);
    expect(published.toSorted()).toEqual(stored.toSorted());
  });

  it('continues where it was interrupted', async () => {
    await makeMany(6);
    const breaking = new CredentialVault([newer, older], systemRandom);
    const open = breaking.open.bind(breaking);
    let opened = 0;
    breaking.open = (sealed, id) => {
      if ((opened += 1) > 5) throw new Error('power failure');
      return open(sealed, id);
    };
    await expect(reencryptCredentials(api.db, breaking, 2)).rejects.toThrow('power failure');
    expect((await keyIds()).filter((id) => id === 'k2')).toHaveLength(4);
    expect(await pending()).toHaveLength(4);
    expect(await reencryptCredentials(api.db, both, 2)).toMatchObject({
      reencrypted: 2,
      withNewest: 6,
      withOthers: 0,
    });
  });

  it('reports credentials that it cannot decrypt, and encrypts the others', async () => {
    const [first = '', second = ''] = await makeMany(3);
    const [one] = (await rows()).filter(({ id }) => id === first);
    const lost = JSON.stringify({ ...one?.credential, key_id: 'k0' });
    await api.db
      .updateTable('services')
      .set({ credential: lost })
      .where('id', '=', first)
      .execute();
    const moved = JSON.stringify(one?.credential);
    await api.db
      .updateTable('services')
      .set({ credential: moved })
      .where('id', '=', second)
      .execute();
    const done = await reencryptCredentials(api.db, both, 1);
    expect(done).toMatchObject({ reencrypted: 1, withNewest: 1, withOthers: 2 });
    expect(new Map(done.unreadable.map(({ serviceId, why }) => [serviceId, why]))).toEqual(
      new Map([
        [first, 'GATEWAY_MASTER_KEYS lacks the key k0'],
        [second, 'it is not what was sealed under the key k1'],
      ]),
    );
  });

  it('loses no concurrent change, and does not block new routes', async () => {
    const [id = ''] = await makeMany(1);
    let change: Promise<unknown> = Promise.resolve();
    let route: Promise<{ status: number }> | undefined;
    const batch = { column: 'credential', newestKeyId: 'k2', after: '', limit: 10 } as const;
    await reencryptServices(api.db, batch, (sealed) => {
      change = api.call('PATCH', `/v1/services/${id}`, { body: bearer('set-meanwhile') });
      const body = { name: 'meanwhile', service_id: id };
      route = api.call('POST', '/v1/routes', { body });
      return { ...sealed, ...both.seal(both.open(sealed, id), id) };
    });
    await change;
    expect((await route)?.status).toBe(201);
    expect(await credentials()).toEqual({ s0: 'Bearer set-meanwhile' });
    const done = await reencryptCredentials(api.db, both);
    expect(done).toMatchObject({ reencrypted: 1, withOthers: 0 });
    expect(await credentials()).toEqual({ s0: 'Bearer set-meanwhile' });
  });
});
