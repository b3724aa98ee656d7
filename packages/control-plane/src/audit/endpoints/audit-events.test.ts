import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { startTestApi, type Answer, type TestApi } from '../../../test/api.ts';
import { auditEvents, createFrom, type AuditEvent } from '../../../test/audit.ts';
import { etagOf } from '../../http/etag.ts';

const PROXY = { trustedProxies: ['127.0.0.1/32'] };
const make = (api: TestApi, path: string, body: object) =>
  createFrom(api, '203.0.113.9', path, body);

/** The events of one call. */
function eventsBy(api: TestApi, answer: Answer): Promise<readonly AuditEvent[]> {
  return auditEvents(api, `&request_id=${answer.headers.get('x-request-id') ?? ''}`);
}

const service = { name: 'pay', environment: 'production', url: 'http://pay.example' };

describe('the audit event of a change', () => {
  let api: TestApi;
  let adminId: string;

  beforeEach(async () => {
    api = await startTestApi(PROXY);
    const [start] = await auditEvents(api, '&resource_type=token');
    adminId = String(start?.['resource_id']);
  });
  afterEach(() => api.close());

  it('names the token, the change, the time, the address and the request', async () => {
    api.clock.advance(1234);
    const made = await make(api, '/v1/services', service);
    expect(await eventsBy(api, made)).toEqual([
      {
        id: expect.stringMatching(/^aud_[0-9a-z]{26}$/),
        occurred_at: '2030-01-01T00:00:01.234Z',
        action: 'service.created',
        resource_type: 'service',
        resource_id: made.id,
        environments: ['production'],
        token_id: adminId,
        client_ip: '203.0.113.9',
        request_id: made.headers.get('x-request-id'),
        before: null,
        // Everything that the API shows except the health, which is not a setting.
        after: { ...(made.json.data as object | undefined), status: undefined },
      },
    ]);
  });

  it('takes the address from X-Forwarded-For only if a trusted proxy sent it', async () => {
    const direct = await startTestApi();
    try {
      const made = await make(direct, '/v1/services', service);
      expect(await eventsBy(direct, made)).toMatchObject([{ client_ip: '127.0.0.1' }]);
    } finally {
      await direct.close();
    }
  });

  it('shows a service and a route before and after each of their changes', async () => {
    const { id } = await make(api, '/v1/services', service);
    const path = `/v1/services/${id}`;
    const renamed = await api.call('PATCH', path, { body: { name: 'payments' } });
    expect(await eventsBy(api, renamed)).toMatchObject([
      {
        action: 'service.updated',
        resource_id: id,
        before: { name: 'pay', revision: 1 },
        after: { name: 'payments', revision: 2, url: 'http://pay.example' },
      },
    ]);
    const route = await make(api, '/v1/routes', { name: 'pay', service_id: id });
    expect(await eventsBy(api, route)).toMatchObject([
      { action: 'route.created', before: null, after: route.json.data },
    ]);
    const routePath = `/v1/routes/${route.id}`;
    const slowed = await api.call('PATCH', routePath, { body: { timeout_ms: 1 } });
    expect(await eventsBy(api, slowed)).toMatchObject([
      { action: 'route.updated', before: route.json.data, after: slowed.json.data },
    ]);
    const gone = await api.call('DELETE', routePath);
    expect(await eventsBy(api, gone)).toMatchObject([
      { action: 'route.deleted', before: slowed.json.data, after: null },
    ]);
    const without = await api.call('DELETE', path);
    expect(await eventsBy(api, without)).toMatchObject([
      { action: 'service.deleted', before: { name: 'payments' }, after: null },
    ]);
  });

  it('shows tokens and environments, and when the secret of a rotated token expires', async () => {
    const body = { name: 'ci', environments: ['production'], scopes: ['proxy'] };
    const token = await make(api, '/v1/tokens', body);
    expect(await eventsBy(api, token)).toMatchObject([
      { action: 'token.created', before: null, after: { ...body, created_by: adminId } },
    ]);
    const path = `/v1/tokens/${token.id}`;
    const rotated = await api.call('POST', `${path}/rotate`, { body: { grace_seconds: 60 } });
    expect(await eventsBy(api, rotated)).toMatchObject([
      {
        action: 'token.rotated',
        before: { name: 'ci' },
        after: { name: 'ci', previous_secret_expires_at: '2030-01-01T00:01:00.000Z' },
      },
    ]);
    const revoked = await api.call('DELETE', path);
    expect(await eventsBy(api, revoked)).toMatchObject([
      { action: 'token.revoked', resource_id: token.id, before: { name: 'ci' }, after: null },
    ]);
    const environment = await make(api, '/v1/environments', { name: 'staging' });
    expect(await eventsBy(api, environment)).toMatchObject([
      {
        action: 'environment.created',
        resource_id: 'staging',
        environments: ['staging'],
        before: null,
        after: { name: 'staging' },
      },
    ]);
  });

  it('contains no secret, no hash of a secret and no credential', async () => {
    const marker = 'mark3r-s3cret';
    const credential = { type: 'header', name: 'X-Key', value: marker };
    const { id } = await make(api, '/v1/services', { ...service, credential });
    const other = { type: 'bearer', token: marker };
    const changed = await api.call('PATCH', `/v1/services/${id}`, { body: { credential: other } });
    expect(await eventsBy(api, changed)).toMatchObject([
      { before: { credential: { type: 'header' } }, after: { credential: { type: 'bearer' } } },
    ]);
    const body = { name: 'ci', environments: ['*'], scopes: ['*'] };
    const token = await make(api, '/v1/tokens', body);
    const rotated = await api.call('POST', `/v1/tokens/${token.id}/rotate`);
    const { rows } = await sql<{ text: string }>`
      SELECT audit_events::text AS text FROM audit_events
    `.execute(api.db);
    const hashes = await api.db.selectFrom('tokens').select('secret_sha256').execute();
    const secrets = [
      marker,
      'sealed',
      'sha256',
      ...[token.json.data?.secret, rotated.json.data?.secret].map((one) => one?.slice(4) ?? ''),
      ...hashes.flatMap((row) => [
        row.secret_sha256.toString('hex'),
        row.secret_sha256.toString('base64'),
      ]),
    ];
    expect(rows.length).toBeGreaterThan(4);
    for (const { text } of rows) {
      for (const secret of secrets) expect(text).not.toContain(secret);
      // The begin by which people tell secrets apart, and no more.
      expect(text).not.toMatch(/gwt_[\w-]{5}/);
    }
  });

  it('does not exist for a call that changed nothing: a read, a refused call, or a PATCH to the same values', async () => {
    const { id } = await make(api, '/v1/services', service);
    const before = (await auditEvents(api)).length;
    const path = `/v1/services/${id}`;
    const body = { name: 'pay' };
    expect((await api.call('PATCH', path, { body })).status).toBe(200);
    expect((await api.call('PATCH', path, { body: { name: 7 } })).status).toBe(400);
    expect((await api.call('PATCH', path, { token: null, body })).status).toBe(401);
    const headers = { 'if-match': etagOf({ id, revision: 9 }) };
    expect((await api.call('DELETE', path, { headers })).status).toBe(412);
    expect((await api.call('POST', '/v1/services', { body: service })).status).toBe(409);
    expect((await api.call('GET', path)).status).toBe(200);
    expect(await auditEvents(api)).toHaveLength(before);
  });

  it('is written with the change: if it cannot be written, nothing changes', async () => {
    const { id } = await make(api, '/v1/services', service);
    const token = await make(api, '/v1/tokens', {
      name: 'ci',
      environments: ['production'],
      scopes: ['proxy'],
    });
    await sql`ALTER TABLE audit_events RENAME TO audit_events_away`.execute(api.db);
    const changes: [string, string, object?][] = [
      ['POST', '/v1/services', { ...service, name: 'new' }],
      ['PATCH', `/v1/services/${id}`, { name: 'other' }],
      ['DELETE', `/v1/services/${id}`],
      ['POST', '/v1/routes', { name: 'new', service_id: id }],
      ['POST', '/v1/tokens', { name: 'new', environments: ['production'], scopes: ['proxy'] }],
      ['POST', `/v1/tokens/${token.id}/rotate`],
      ['DELETE', `/v1/tokens/${token.id}`],
      ['POST', '/v1/environments', { name: 'new' }],
    ];
    for (const [method, path, body] of changes) {
      const answer = await api.call(method, path, body === undefined ? {} : { body });
      expect(answer.status).toBe(500);
    }
    await sql`ALTER TABLE audit_events_away RENAME TO audit_events`.execute(api.db);
    const services = (await api.call('GET', '/v1/services')).json.data ?? [];
    expect(services.map((one) => one['name'])).toEqual(['pay']);
    expect((await api.call('GET', '/v1/routes')).json.data).toEqual([]);
    const { secret } = token.json.data ?? {};
    const opened = await api.call('GET', '/v1/environments', { token: secret ?? '' });
    expect(opened.json.data?.map((one) => one['name'])).toEqual(['production']);
  });

  it('names no token for changes that the control plane makes by itself', async () => {
    expect(await auditEvents(api, '&action=token.created')).toMatchObject([
      { resource_id: adminId, token_id: null, client_ip: null, request_id: null, before: null },
    ]);
  });
});
