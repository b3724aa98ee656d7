import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type Answer, type TestApi } from '../../../test/api.ts';
import { etagOf } from '../../http/etag.ts';

const MARKER = 'mark3r-s3cret';

describe('the credential of a service', () => {
  let api: TestApi;
  let made = 0;
  beforeAll(async () => void (api = await startTestApi()));
  afterAll(() => api.close());

  async function make(credential?: unknown): Promise<Answer & { path: string; id: string }> {
    const name = `service ${(made += 1)}`;
    const body = { name, environment: 'production', url: 'http://pay.example', credential };
    const answer = await api.call('POST', '/v1/services', { body });
    expect(answer.status).toBe(201);
    const path = answer.headers.get('location') ?? '';
    return { ...answer, path, id: answer.json.data?.id ?? '' };
  }

  const patch = (path: string, body: unknown, headers = {}) =>
    api.call('PATCH', path, { body, headers });
  const stored = (id: string) =>
    api.db.selectFrom('services').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

  it.each([
    [{ type: 'bearer', token: MARKER }, 'authorization'],
    [{ type: 'basic', username: MARKER, password: MARKER }, 'authorization'],
    [{ type: 'header', name: 'X-Api-Key', value: MARKER }, 'x-api-key'],
  ])('%j is shown by its type, its header and when it was set', async (credential, header) => {
    const service = await make(credential);
    const shown = { type: credential.type, header, set_at: '2030-01-01T00:00:00.000Z' };
    expect(service.json.data?.['credential']).toEqual(shown);
    const read = await api.call('GET', service.path);
    expect(read.json.data?.['credential']).toEqual(shown);
    const list = await api.call('GET', '/v1/services?limit=200');
    const basic = Buffer.from(`${MARKER}:${MARKER}`).toString('base64');
    for (const { text } of [service, read, list]) {
      expect(text).not.toContain(MARKER);
      expect(text).not.toContain(basic);
      expect(text).not.toContain('sealed');
    }
    const row = JSON.stringify(await stored(service.id));
    expect(row).not.toContain(MARKER);
    expect(row).not.toContain(basic);
  });

  it('does not change if a PATCH leaves it out, and increases the revision if it is set', async () => {
    const service = await make({ type: 'bearer', token: 'one' });
    const before = (await stored(service.id)).credential;
    const renamed = await patch(service.path, { health_path: '/up' });
    expect(renamed.headers.get('etag')).toBe(etagOf({ ...service, revision: 2 }, 'unknown'));
    expect((await stored(service.id)).credential).toEqual(before);

    api.clock.advance(1000);
    const same = await patch(service.path, { credential: { type: 'bearer', token: 'one' } });
    expect(same.headers.get('etag')).toBe(etagOf({ ...service, revision: 3 }, 'unknown'));
    expect(same.json.data?.['credential']).toEqual({
      type: 'bearer',
      header: 'authorization',
      set_at: expect.any(String),
    });
    expect((await stored(service.id)).credential?.set_at).not.toBe(before?.set_at);
    expect((await stored(service.id)).credential?.sealed).not.toBe(before?.sealed);
  });

  it('is removed by null, which changes nothing if there is none', async () => {
    const service = await make({ type: 'bearer', token: 'one' });
    const removed = await patch(service.path, { credential: null });
    expect(removed.json.data?.['credential']).toBeNull();
    expect(removed.headers.get('etag')).toBe(etagOf({ ...service, revision: 2 }, 'unknown'));
    expect((await patch(service.path, { credential: null })).headers.get('etag')).toBe(
      etagOf({ ...service, revision: 2 }, 'unknown'),
    );
    expect((await stored(service.id)).credential).toBeNull();
    expect((await make(null)).json.data?.['credential']).toBeNull();
  });

  it('is not changed by a PATCH with the tag of an older revision', async () => {
    const service = await make({ type: 'bearer', token: 'one' });
    await patch(service.path, { credential: { type: 'bearer', token: 'two' } });
    const before = await stored(service.id);
    const body = { credential: { type: 'bearer', token: MARKER } };
    const late = await patch(service.path, body, {
      'if-match': etagOf({ ...service, revision: 1 }),
    });
    expect([late.status, late.headers.get('etag')]).toEqual([
      412,
      etagOf({ ...service, revision: 2 }),
    ]);
    expect(await stored(service.id)).toEqual(before);
  });

  it('is published to the data planes with each change', async () => {
    const service = await make({ type: 'bearer', token: 'one' });
    await patch(service.path, { credential: { type: 'bearer', token: 'two' } });
    await patch(service.path, { credential: null });
    const changes = await api.db
      .selectFrom('config_outbox')
      .select('action')
      .where('entity_id', '=', service.id)
      .execute();
    expect(changes.map(({ action }) => action)).toEqual([
      'service.created',
      'service.updated',
      'service.updated',
    ]);
  });

  it('is not repeated in an error response', async () => {
    const service = await make();
    const bodies = [
      { credential: { type: 'bearer', token: `${MARKER}\r\n` } },
      { credential: MARKER },
      { credential: { [MARKER]: MARKER } },
      { credential: { type: MARKER } },
      { credential: { type: 'header', name: 'Host', value: MARKER } },
      { token: MARKER, colour: MARKER },
      `{"credential":{"type":"bearer","token":"${MARKER}`,
    ];
    for (const body of bodies) {
      for (const [method, path] of [
        ['POST', '/v1/services'],
        ['PATCH', service.path],
      ] as const) {
        const { status, text } = await api.call(method, path, { body });
        expect(status).toBe(400);
        expect(text).not.toContain(MARKER);
      }
    }
  });

  it('is write-only in the OpenAPI document, and shown without its secret', async () => {
    const { text } = await api.call('GET', '/v1/openapi.json');
    const paths = pathsOf(text);
    const credential = { requestBody: bodyWith({ writeOnly: true, anyOf: expect.any(Array) }) };
    expect(paths['/v1/services']).toMatchObject({ post: credential });
    expect(paths['/v1/services/{id}']).toMatchObject({ patch: credential });
    const answers = JSON.stringify(Object.values(paths).map((path) => responsesOf(path)));
    expect(answers).toContain('set_at');
    for (const name of ['sealed', 'password', 'username', 'key_id']) {
      expect(answers).not.toContain(`"${name}"`);
    }
  });
});

/** The paths of the document, with each reference to a schema replaced by the schema. */
function pathsOf(text: string): Record<string, unknown> {
  const { paths, components } = JSON.parse(text) as Record<'paths' | 'components', unknown>;
  const { schemas } = components as { schemas: Record<string, object> };
  const resolved = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value), (_key, part: unknown) => {
      const ref = (part as { $ref?: string } | null)?.$ref;
      const schema = ref?.startsWith('#/components/schemas/') && schemas[ref.slice(21)];
      return schema ? resolved(schema) : part;
    });
  return resolved(paths) as Record<string, unknown>;
}

function bodyWith(credential: object) {
  return { content: { 'application/json': { schema: { properties: { credential } } } } };
}

function responsesOf(path: unknown): unknown[] {
  const operations = Object.values(path as Record<string, { responses?: unknown }>);
  return operations.map(({ responses }) => responses);
}
