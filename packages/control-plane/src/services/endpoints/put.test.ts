import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestAuthority } from '@gateway/shared/test/certificates';
import { eventually } from '@gateway/shared/test/eventually';
import { sql } from 'kysely';
import pg from 'pg';
import { startTestApi, type CallOptions, type TestApi } from '../../../test/api.ts';
import { etagOf } from '../../http/etag.ts';

describe('PUT by name', () => {
  let api: TestApi;
  let serviceId: string;

  beforeAll(async () => {
    api = await startTestApi();
    const made = await put('services/base', { url: 'http://base.example' });
    serviceId = made.json.data?.id ?? '';
  });

  afterAll(async () => {
    await api.close();
  });

  function put(path: string, body: object, options: CallOptions & { env?: string } = {}) {
    const { env = 'production', ...more } = options;
    return api.call('PUT', `/v1/${path}?environment=${env}`, { body, ...more });
  }

  async function changes(): Promise<number> {
    return (await api.db.selectFrom('config_outbox').select('id').execute()).length;
  }

  const cases = [
    ['services', () => ({ url: 'http://a.example' }), { health_path: '/up' }, 'health_path'],
    ['routes', () => ({ service_id: serviceId }), { timeout_ms: 5 }, 'timeout_ms'],
  ] as const;

  describe.each(cases)('of %s', (kind, minimal, edit, field) => {
    it('creates, then changes nothing, then replaces', async () => {
      const path = `${kind}/first`;
      const made = await put(path, { ...minimal(), ...edit });
      expect(made.status).toBe(201);
      expect(made.headers.get('location')).toBe(`/v1/${kind}/${made.json.data?.id ?? ''}`);
      expect(made.json.data).toMatchObject({ name: 'first', environment: 'production', ...edit });
      const before = await changes();

      const again = await put(path, { ...minimal(), ...edit });
      expect({ status: again.status, data: again.json.data }).toEqual({
        status: 200,
        data: made.json.data,
      });
      expect(await changes()).toBe(before);

      const replaced = await put(path, minimal());
      expect(replaced.status).toBe(200);
      expect(replaced.headers.get('location')).toBeNull();
      expect(replaced.json.data).toMatchObject({ id: made.json.data?.id, revision: 2 });
      expect(replaced.json.data?.[field]).not.toBe(Object.values(edit)[0]);
      const id = made.json.data?.id ?? '';
      const events = await api.call('GET', `/v1/audit-events?resource_id=${id}`);
      const one = kind.slice(0, -1);
      expect(events.json.data?.map((event) => event['action'])).toEqual([
        `${one}.updated`,
        `${one}.created`,
      ]);
    });

    it('has one resource of a name in each environment', async () => {
      if (kind === 'routes') return;
      const made = await put(`${kind}/apart`, minimal());
      const other = await put(`${kind}/apart`, minimal(), { env: 'development' });
      expect(other.status).toBe(201);
      expect(other.json.data?.id).not.toBe(made.json.data?.id);
    });

    it('takes a body of GET, and changes nothing', async () => {
      await put(`${kind}/sent`, { ...minimal(), ...edit });
      const list = await api.call('GET', `/v1/${kind}?name=sent&environment=production`);
      const body = list.json.data?.[0] ?? {};
      const before = await changes();
      const answer = await put(`${kind}/sent`, body);
      expect({ status: answer.status, data: answer.json.data }).toEqual({
        status: 200,
        data: body,
      });
      expect(await changes()).toBe(before);
      const edited = await put(`${kind}/sent`, { ...body, revision: 7 });
      expect(edited.json.error?.['details']).toEqual([
        { path: 'revision', message: 'is read-only' },
      ]);
    });

    it('only creates with If-None-Match: *, and only replaces with If-Match', async () => {
      const path = `${kind}/guarded`;
      const create = { headers: { 'if-none-match': '*' } };
      const absent = await put(path, minimal(), { headers: { 'if-match': '*' } });
      expect({ status: absent.status, code: absent.json.error?.['code'] }).toEqual({
        status: 412,
        code: 'precondition_failed',
      });
      const made = await put(path, minimal(), create);
      expect(made.status).toBe(201);
      const of = (revision: number) => etagOf({ id: made.json.data?.id, revision });
      const exists = await put(path, { ...minimal(), ...edit }, create);
      expect(exists.status).toBe(412);
      expect(exists.headers.get('etag')).toBe(of(1));
      const stale = { headers: { 'if-match': of(7) } };
      expect((await put(path, { ...minimal(), ...edit }, stale)).status).toBe(412);
      const current = { headers: { 'if-match': of(1) } };
      const replaced = await put(path, { ...minimal(), ...edit }, current);
      expect({ status: replaced.status, revision: replaced.json.data?.['revision'] }).toEqual({
        status: 200,
        revision: 2,
      });
    });

    it('makes one resource if many writers create it at once', async () => {
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, at) =>
          put(`${kind}/race`, {
            ...minimal(),
            [field]: field === 'timeout_ms' ? at + 1 : `/${at}`,
          }),
        ),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([
        ...Array<number>(11).fill(200),
        201,
      ]);
      expect(new Set(answers.map(({ json }) => json.data?.id)).size).toBe(1);
      const revisions = answers.map(({ json }) => json.data?.['revision'] as number);
      expect(new Set(revisions).size).toBe(12);
    });

    it('refuses a name that contradicts the body, is an id or is not valid', async () => {
      const details = async (name: string, body: object) => {
        const { status, json } = await put(`${kind}/${name}`, { ...minimal(), ...body });
        return [status, (json.error?.['details'] as { path: string }[] | undefined)?.[0]?.path];
      };
      expect(await details('one', { name: 'two' })).toEqual([400, 'name']);
      expect(await details('one', { environment: 'development' })).toEqual([400, 'environment']);
      expect(
        await details(`${kind === 'services' ? 'svc' : 'rte'}_00000000000000000000000000`, {}),
      ).toEqual([400, 'name']);
      expect(await details('%21', {})).toEqual([400, 'name']);
      expect(await details('one', { colour: 1 })).toEqual([400, 'colour']);
    });

    it('answers environment_not_found for an environment that does not exist', async () => {
      const answer = await put(`${kind}/lost`, minimal(), { env: 'nowhere' });
      expect({ status: answer.status, code: answer.json.error?.['code'] }).toEqual({
        status: 404,
        code: 'environment_not_found',
      });
    });
  });

  it('keeps a credential that is the same or is sent as it is shown, and removes one that is left out', async () => {
    const service = { url: 'http://a.example' };
    const credential = { type: 'header', name: 'X-Key', value: 'secret' };
    const made = await put('services/sealed', { ...service, credential });
    const shown = made.json.data?.['credential'] as object;
    const before = await changes();
    api.clock.advance(5000);
    for (const same of [credential, shown]) {
      const answer = await put('services/sealed', { ...service, credential: same });
      expect(answer.json.data).toMatchObject({ revision: 1, credential: shown });
    }
    expect(await changes()).toBe(before);
    const other = await put('services/sealed', {
      ...service,
      credential: { ...credential, value: 'another' },
    });
    expect(other.json.data).toMatchObject({ revision: 2 });
    const removed = await put('services/sealed', service);
    expect(removed.json.data).toMatchObject({ revision: 3, credential: null });
    const gone = await put('services/sealed', { ...service, credential: shown });
    expect(gone.status).toBe(400);
  });

  it('sends a credential that is not given again only where it goes already, and says whose is needed', async () => {
    const credential = { type: 'bearer', token: 'secret' };
    const upstreams = [{ url: 'https://a.example/v1' }, { url: 'https://b.example' }];
    const made = await put('services/moved', { upstreams, credential });
    const shown = made.json.data?.['credential'] as object;
    const elsewhere = { upstreams: [...upstreams, { url: 'https://evil.example' }] };
    const refused = await put('services/moved', { ...elsewhere, credential: shown });
    expect(refused.status).toBe(400);
    expect(refused.json.error?.['details']).toEqual([
      {
        path: 'credential',
        message:
          'the stored one is not sent to a new address; give the credential of moved again, for https://evil.example',
      },
    ]);
    const same = { upstreams: [{ url: 'https://a.example/v2' }] };
    expect((await put('services/moved', { ...same, credential: shown })).status).toBe(200);
    expect((await put('services/moved', { ...elsewhere, credential })).status).toBe(200);
  });

  it('does not keep a credential that the caller was not shown', async () => {
    const url = 'http://a.example';
    const credential = { type: 'bearer', token: 'of-the-caller' };
    const made = await put('services/raced', { url, credential });
    const shown = made.json.data?.['credential'];
    const holder = new pg.Client({ connectionString: api.databaseUrl });
    await holder.connect();
    try {
      await holder.query('BEGIN');
      await holder.query(`SELECT FROM services WHERE name = 'raced' FOR UPDATE`);
      const answer = put('services/raced', { url, credential: shown, health_path: '/alive' });
      await eventually(async () => {
        const { rows } = await sql`SELECT FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(api.db);
        expect(rows).toHaveLength(1);
      });
      // Another credential, as of another service that took the name.
      await holder.query(`UPDATE services SET credential =
        jsonb_set(credential, '{set_at}', '"2031-01-01T00:00:00.000Z"') WHERE name = 'raced'`);
      await holder.query('COMMIT');
      const { status, json } = await answer;
      expect([status, json.error?.['details']]).toEqual([
        400,
        [{ path: 'credential', message: 'has no secret, and is not the one of the service now' }],
      ]);
    } finally {
      await holder.end();
    }
  });

  it('keeps a client certificate that is the same or is sent as it is shown', async () => {
    const { certPem, keyPem } = createTestAuthority('upstreams').issue(['client.test']);
    const pair = { cert_pem: certPem, key_pem: keyPem };
    const service = { url: 'https://a.example' };
    const tls = { server_name: 'inner.example', client_certificate: pair };
    const made = await put('services/mutual', { ...service, tls });
    expect(made.status).toBe(201);
    const before = await changes();
    api.clock.advance(5000);
    for (const same of [tls, made.json.data?.['tls'] as object]) {
      const answer = await put('services/mutual', { ...service, tls: same });
      expect(answer.json.data).toEqual(made.json.data);
    }
    expect(await changes()).toBe(before);
    const removed = await put('services/mutual', { ...service, tls: { server_name: 'b.example' } });
    expect(removed.json.data).toMatchObject({
      tls: { ca_pem: null, server_name: 'b.example', client_certificate: null },
    });
  });

  it('does not pin the default path of health checks', async () => {
    await put('services/followed', { url: 'http://a.example' });
    const list = await api.call('GET', '/v1/services?name=followed');
    const body = { ...list.json.data?.[0], health_path: '/up' };
    const answer = await put('services/followed', body);
    expect(answer.json.data).toMatchObject({ health_check: { path: '/up' } });
  });

  it('names the field of a service that does not exist or is in another environment', async () => {
    const other = await put('services/there', { url: 'http://a.example' }, { env: 'development' });
    for (const service_id of ['svc_00000000000000000000000000', other.json.data?.id]) {
      const answer = await put('routes/astray', { service_id });
      expect({ status: answer.status, details: answer.json.error?.['details'] }).toEqual({
        status: 400,
        details: [
          { path: 'service_id', message: expect.stringMatching(/^must be the id of a service/) },
        ],
      });
    }
  });

  it('needs no environment if the token has only one', async () => {
    const scopes = ['services:write', 'services:read'];
    const token = await api.makeToken({ name: 'one', environments: ['development'], scopes });
    const body = { url: 'http://a.example' };
    const made = await api.call('PUT', '/v1/services/implied', { token, body });
    expect(made.json.data).toMatchObject({ environment: 'development' });
    expect((await api.call('PUT', '/v1/services/implied', { body })).status).toBe(400);
    const foreign = await put('services/base', body, { token });
    expect(foreign.status).toBe(401);
  });
});
