import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type Answer, type TestApi } from '../../test/api.ts';
import { expectError } from '../../test/expect-error.ts';

const NAME = 'staging';
const PATH = `/v1/environments/${NAME}`;

let api: TestApi;
beforeAll(async () => void (api = await startTestApi()));
afterAll(() => api.close());

const tagOf = ({ headers }: Answer) => headers.get('etag') ?? '';
const idOf = ({ json }: Answer) => json.data?.id;
const remove = async (path: string) => expect((await api.call('DELETE', path)).status).toBe(204);
const create = () => api.call('POST', '/v1/environments', { body: { name: NAME } });
const put = (path: string, body: object, headers: Record<string, string> = {}) =>
  api.call('PUT', `/v1/${path}?environment=${NAME}`, { body, headers });

describe('the entity tag of an environment', () => {
  const read = (headers: Record<string, string> = {}) => api.call('GET', PATH, { headers });
  const again = async () => {
    await remove(PATH);
    await create();
  };

  it('is of that environment alone, whatever was published when its name came back', async () => {
    const tags: string[] = [];
    const readAnother = async () => {
      const before = tags.at(-1) ?? '"none"';
      const present = await read({ 'if-none-match': before });
      expect(present.status).toBe(200);
      expect(await read({ 'if-none-match': tagOf(present) })).toMatchObject({ status: 304 });
      tags.push(tagOf(present));
    };
    await create();
    await readAnother();
    await again();
    await readAnother();
    await api.publish(NAME);
    await readAnother();
    for (let round = 0; round < 2; round += 1) {
      await again();
      await readAnother();
    }
    await api.publish(NAME);
    await readAnother();
    expect(new Set(tags).size).toBe(tags.length);
  });

  it('is the number of the newest version, as a rollback takes it', async () => {
    const version = await api.publish(NAME);
    const tag = tagOf(await read());
    expect(tag).toBe(`"${version}"`);
    const rollBack = (ifMatch: string) =>
      api.call('POST', `${PATH}/rollback`, { body: { version }, headers: { 'if-match': ifMatch } });
    expect((await rollBack(tag)).status).toBe(200);
    await again();
    const present = tagOf(await read());
    for (const sent of [tag, present]) {
      const refused = await rollBack(sent);
      expectError(refused, 412, 'precondition_failed');
      expect(tagOf(refused)).toBe(present);
    }
    await remove(PATH);
  });
});

describe.each(['services', 'routes'] as const)('the entity tag of one of the %s', (kind) => {
  let wanted: object;
  let made: Answer;
  const bodyOf = (serviceId: string | undefined) =>
    kind === 'services' ? { url: 'http://orders.example' } : { service_id: serviceId };
  const makeContents = async () => {
    const service = idOf(await put('services/base', { url: 'http://base.example' }));
    wanted = bodyOf(service);
    return put(`${kind}/orders`, wanted);
  };

  beforeAll(async () => {
    await create();
    made = await makeContents();
    expect(made.status).toBe(201);
  });

  async function expectRefused(tag: string): Promise<void> {
    const path = `/v1/${kind}/${idOf(await put(`${kind}/orders`, wanted))}`;
    const headers = { 'if-match': tag };
    const body = kind === 'services' ? { health_path: '/up' } : { timeout_ms: 1 };
    expectError(
      await put(`${kind}/orders`, { ...wanted, ...body }, headers),
      412,
      'precondition_failed',
    );
    expectError(await api.call('PATCH', path, { body, headers }), 412, 'precondition_failed');
    const refused = await api.call('DELETE', path, { headers });
    expectError(refused, 412, 'precondition_failed');
    const present = await api.call('GET', path, { headers: { 'if-none-match': tag } });
    expect([present.status, present.json.data?.['revision']]).toEqual([200, 1]);
    // It does not say the health of a service to a token that may not read it.
    expect(tagOf(refused)).toMatch(/^"1-[0-9a-hjkmnp-tv-z]{8}"$/);
    expect(tagOf(present).startsWith(tagOf(refused).slice(0, -1))).toBe(true);
  }

  it('does not name another one that takes its name', async () => {
    await remove(`/v1/${kind}/${idOf(made)}`);
    expect((await put(`${kind}/orders`, wanted)).status).toBe(201);
    await expectRefused(tagOf(made));
  });

  it('does not name one of an environment that takes the name of its environment', async () => {
    const former = tagOf(await put(`${kind}/orders`, wanted));
    const { data = [] } = (await api.call('GET', `/v1/routes?environment=${NAME}`)).json;
    for (const { id } of data) await remove(`/v1/routes/${id}`);
    const services = await api.call('GET', `/v1/services?environment=${NAME}`);
    for (const { id } of services.json.data ?? []) await remove(`/v1/services/${id}`);
    await remove(PATH);
    await create();
    expect((await makeContents()).status).toBe(201);
    await expectRefused(former);
  });

  it('of a release that named only the revision names nothing', async () => {
    for (const tag of ['"1"', '"1-unknown"', '"1-degraded"']) await expectRefused(tag);
  });
});
