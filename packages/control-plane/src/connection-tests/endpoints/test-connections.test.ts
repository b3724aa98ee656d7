import { randomBytes } from 'node:crypto';
import {
  connectionTestQuestionSchema,
  type ConnectionTestQuestion,
  type TestedUpstream,
} from '@gateway/shared/connection-tests/test-messages';
import { verifiedQuestion } from '@gateway/shared/connection-tests/signed-question';
import { systemRandom } from '@gateway/shared/ids';
import { CredentialVault } from '@gateway/shared/secrets/upstream-credential';
import { createTestAuthority } from '@gateway/shared/test/certificates';
import { heartbeatOf } from '@gateway/shared/test/heartbeat';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startTestApi, type Answer, type TestApi } from '../../../test/api.ts';
import { expectError } from '../../../test/expect-error.ts';
import { idOf } from '../../../test/explain-world.ts';
import type { Reached } from '../../data-planes/ask-data-planes.ts';
import { MAX_ASKED } from '../choose-data-planes.ts';
import { MAX_TESTS_OF_TOKEN } from '../test-allowance.ts';

const PATH = '/v1/connection-tests';
const URL_OF_ONE = 'https://orders.test';
const masterKeys = [{ id: 'k1', bytes: randomBytes(32) }];

interface View {
  readonly environment: string;
  readonly request: string;
  readonly data_planes: readonly {
    readonly id: string;
    readonly problem: string | null;
    readonly message: string | null;
    readonly upstreams: readonly Readonly<Record<string, unknown>>[];
  }[];
  readonly unasked_data_planes: number;
}

const SEEN: Omit<TestedUpstream, 'id'> = {
  outcome: 'healthy',
  detail: 'status_204',
  tls_error: null,
  protocol: 'http2',
  tls_version: 'TLSv1.3',
  certificate_ends_ms: Date.UTC(2027, 0, 31),
  connect_ms: 12.4,
  duration_ms: 15,
};

describe('POST /v1/connection-tests', () => {
  let api: TestApi;
  let serviceId: string;
  /** What the data planes were asked. */
  let asked: { readonly id: string; readonly question: ConnectionTestQuestion }[] = [];
  /** What they answer; undefined: each upstream as `seen`. */
  let reached: ((id: string) => Promise<Reached> | Reached) | undefined;
  let seen: Omit<TestedUpstream, 'id'>;

  beforeAll(async () => {
    api = await startTestApi({
      masterKeys,
      deniedUpstreams: ['169.254.0.0/16'],
      resolveName: (name) => Promise.resolve(name === 'inner.test' ? ['169.254.169.254'] : []),
      ask(id, message, _timeoutMs, kind) {
        expect(kind).toBe('connection test');
        const text = verifiedQuestion(message, masterKeys) ?? '';
        const question = connectionTestQuestionSchema.parse(JSON.parse(text));
        asked.push({ id, question });
        if (reached !== undefined) return Promise.resolve(reached(id));
        const upstreams = question.service.upstreams.map((one) => ({ ...seen, id: one.id }));
        return Promise.resolve(answered({ format: 1, upstreams, problem: null }));
      },
    });
    const created = await api.call('POST', '/v1/services', {
      body: {
        name: 'orders',
        environment: 'production',
        url: URL_OF_ONE,
        health_path: '/ready',
        credential: { type: 'bearer', token: 's3cret-of-upstream' },
        tls: { server_name: 'orders.example' },
      },
    });
    serviceId = idOf(created);
  });
  afterAll(() => api.close());
  beforeEach(() => {
    asked = [];
    reached = undefined;
    seen = SEEN;
    api.clock.advance(120_000);
    beat('dp-1');
  });

  function answered(value: object): Reached {
    return { kind: 'answer', data: Buffer.from(JSON.stringify(value)) };
  }

  function beat(id: string, change: Parameters<typeof heartbeatOf>[1] = {}): void {
    const heartbeat = heartbeatOf(id, { config_versions: { production: 1 }, ...change });
    api.dataPlanes.take(heartbeat, api.clock.monotonicMs());
  }

  const test = (body: object, token?: string) =>
    api.call('POST', PATH, { body, ...(token !== undefined && { token }) });
  const viewOf = (answer: Answer): View => {
    expect(answer.status).toBe(200);
    return answer.json.data as unknown as View;
  };

  it('says in a sentence what each data plane saw of each upstream of a stored service', async () => {
    beat('dp-2', { region: 'us' });
    const view = viewOf(await test({ service_id: serviceId }));
    expect(view).toMatchObject({
      environment: 'production',
      request: 'GET /ready',
      unasked_data_planes: 0,
    });
    expect(view.data_planes.map(({ id }) => id)).toEqual(['dp-1', 'dp-2']);
    expect(view.data_planes[0]).toMatchObject({
      problem: null,
      message: null,
      upstreams: [
        {
          url: URL_OF_ONE,
          region: null,
          outcome: 'healthy',
          detail: 'status_204',
          protocol: 'http2',
          tls_version: 'TLSv1.3',
          certificate_ends_at: '2027-01-31T00:00:00.000Z',
          connect_ms: 12.4,
          message:
            'Reached in 12 ms over HTTP/2 with TLS 1.3, certificate valid until 2027-01-31. GET /ready answered 204.',
        },
      ],
    });
  });

  it.each([
    [
      { outcome: 'unhealthy', detail: 'status_404', tls_version: null },
      /^Reached in 12 ms over HTTP\/2 without TLS\. GET \/ready answered 404, so health checks fail\.$/,
    ],
    [{ detail: 'connect_refused', connect_ms: null }, /^It refused the connection\.$/],
    [
      { detail: 'tls_failed', connect_ms: null, tls_error: 'CERT_HAS_EXPIRED' },
      /its certificate has expired\.$/,
    ],
    [
      { detail: 'tls_failed', connect_ms: null, tls_error: 'ERR_TLS_CERT_ALTNAME_INVALID' },
      /its certificate is not valid for orders\.example\.$/,
    ],
    [
      { detail: 'tls_failed', connect_ms: null, tls_error: 'ERR_NEW' },
      /^The TLS handshake failed: ERR_NEW\.$/,
    ],
    [{ detail: 'attempt_timeout', connect_ms: null }, /^It could not be reached in time\.$/],
    [{ detail: 'reset' }, /before its response began; it may require a client certificate\.$/],
    [{ detail: 'internal_error' }, / Then the data plane failed; its log has the reason\.$/],
    [{ detail: 'attempt_timeout' }, /^Reached in .* Then it did not respond in time\.$/],
    [{ detail: 'address_refused', connect_ms: null }, /UPSTREAM_DENY_CIDRS\.$/],
    [{ detail: 'of_a_newer_release', connect_ms: null }, /ended with of_a_newer_release\.$/],
  ] as const)('says of %j why not', async (change, message) => {
    seen = { ...SEEN, outcome: 'failed', certificate_ends_ms: null, ...change };
    const [plane] = viewOf(await test({ service_id: serviceId })).data_planes;
    expect(plane?.upstreams[0]?.['message']).toMatch(message);
  });

  it('sends the settings as they would be stored, and never the credential', async () => {
    await test({ service_id: serviceId, protocol: 'http2', health_check: { timeout_ms: 1500 } });
    expect(asked[0]?.question.asked_at_ms).toBe(api.clock.nowMs());
    const service = asked[0]?.question.service;
    expect(service).toMatchObject({
      id: serviceId,
      protocol: 'http2',
      health_check: { path: '/ready', timeout_ms: 1500, interval_ms: 5000 },
      tls: { server_name: 'orders.example' },
      upstreams: [{ url: URL_OF_ONE }],
    });
    expect(service).not.toHaveProperty('credential');
    expect(JSON.stringify(asked)).not.toContain('s3cret');
  });

  it('sends the defaults of a service that is not stored, and its client key encrypted', async () => {
    const authority = createTestAuthority('clients');
    const { certPem, keyPem } = authority.issue(['gateway']);
    const tls = { client_certificate: { cert_pem: certPem, key_pem: keyPem } };
    const body = { environment: 'production', upstreams: [{ url: 'https://new.test' }], tls };
    expect(viewOf(await test(body)).request).toBe('GET /healthz');
    const service = asked[0]?.question.service;
    expect(service).toMatchObject({ protocol: 'http1', health_check: { path: '/healthz' } });
    expect(JSON.stringify(asked)).not.toContain('PRIVATE KEY');
    const sealed = service?.tls?.client_certificate?.key;
    if (service === undefined || sealed === undefined) throw new Error('no client key was sent');
    const vault = new CredentialVault(masterKeys, systemRandom);
    expect(vault.openClientKey(sealed, service.id)).toBe(keyPem);
    const { json } = await api.call('GET', '/v1/services');
    expect(json.data).toHaveLength(1);
  });

  it.each([
    ['no address', { environment: 'production' }, 'url'],
    ['an address that is denied', { url: 'http://169.254.169.254' }, 'url'],
    [
      'a name at a denied address',
      { upstreams: [{ url: 'http://inner.test' }] },
      'upstreams.0.url',
    ],
    ['two addresses', { url: 'http://a.test', upstreams: [{ url: 'http://b.test' }] }, 'url'],
    [
      'gRPC over HTTP/1.1',
      { url: 'http://a.test', health_check: { type: 'grpc' } },
      'health_check.type',
    ],
    [
      'a check that takes longer than its interval',
      { url: 'http://a.test', health_check: { interval_ms: 1000, timeout_ms: 1001 } },
      'health_check.timeout_ms',
    ],
    ['an unknown service', { service_id: 'svc_01kb5zv4x8n3m6q9r2t7w0y1z4' }, 'service_id'],
    ['a credential', { url: 'http://a.test', credential: null }, 'credential'],
    ['an unknown environment', { url: 'http://a.test', environment: 'nowhere' }, 'environment'],
    ['an unknown data plane', { url: 'http://a.test', data_plane: 'nobody' }, 'data_plane'],
  ])('refuses %s, and asks nothing', async (_what, body, path) => {
    const answer = await test('service_id' in body ? body : { environment: 'production', ...body });
    expectError(answer, 400, 'invalid_request');
    const details = answer.json.error?.['details'] as { path: string }[];
    expect(details.map((detail) => detail.path)).toEqual([path]);
    expect(asked).toEqual([]);
  });

  it('refuses a timeout of the check that a stored service could not have', async () => {
    const answer = await test({ service_id: serviceId, health_check: { timeout_ms: 5001 } });
    expectError(answer, 400, 'invalid_request');
    expect(answer.text).toContain('must be at most interval_ms, which is 5000');
    expect(asked).toEqual([]);
  });

  it('gives the check of a new service the timeout that it will have', async () => {
    const url = 'http://new.test';
    const health_check = { interval_ms: 500 };
    await test({ environment: 'production', url, health_check });
    const body = { name: 'same', environment: 'production', url, health_check };
    const { json } = await api.call('POST', '/v1/services', { body });
    const { id, health_check: created } = json.data as unknown as {
      id: string;
      health_check: object;
    };
    await api.call('DELETE', `/v1/services/${id}`);
    expect(created).toMatchObject(asked[0]?.question.service.health_check ?? { asked });
  });

  it('refuses another environment than that of the service', async () => {
    const answer = await test({ service_id: serviceId, environment: 'development' });
    expectError(answer, 400, 'invalid_request');
  });

  it('needs the scope services:write and the environment', async () => {
    const reader = { name: 'r', environments: ['*'], scopes: ['services:read'] };
    const other = { name: 'o', environments: ['development'], scopes: ['services:write'] };
    for (const token of [await api.makeToken(reader), await api.makeToken(other)]) {
      expectError(await test({ service_id: serviceId }, token), 401, 'authentication_failed');
      const body = { environment: 'production', url: URL_OF_ONE };
      expectError(await test(body, token), 401, 'authentication_failed');
    }
    expect(asked).toEqual([]);
  });

  it('shows nothing of a stored service to a token that may not read it', async () => {
    const token = await api.makeToken({
      name: 'writes',
      environments: ['production'],
      scopes: ['services:write'],
    });
    for (const id of [serviceId, 'svc_01kb5zv4x8n3m6q9r2t7w0y1z4']) {
      const answer = await test({ service_id: id, data_plane: 'dp-1' }, token);
      expectError(answer, 401, 'authentication_failed');
      expect(answer.text).not.toMatch(/orders|ready/);
    }
    expect(asked).toEqual([]);
    const own = await test({ url: 'https://own.test' }, token);
    expect(viewOf(own).data_planes[0]?.upstreams).toMatchObject([{ url: 'https://own.test' }]);
  });

  it('asks only data planes that serve the environment', async () => {
    beat('elsewhere', { config_versions: { development: 1 } });
    const view = viewOf(await test({ service_id: serviceId }));
    expect(view.data_planes.map(({ id }) => id)).toEqual(['dp-1']);
    const body = { environment: 'development', url: URL_OF_ONE };
    expect(viewOf(await test(body)).data_planes.map(({ id }) => id)).toEqual(['elsewhere']);
  });

  it('asks some of each region if there are many, and says how many it did not ask', async () => {
    for (let at = 0; at < MAX_ASKED + 4; at += 1) beat(`dp-${at + 10}`, { region: 'many' });
    beat('only', { region: 'small' });
    const view = viewOf(await test({ service_id: serviceId }));
    expect(view.data_planes).toHaveLength(MAX_ASKED);
    expect(view.data_planes.map(({ id }) => id)).toContain('only');
    expect(view.unasked_data_planes).toBe(6);
    const one = viewOf(await test({ service_id: serviceId, data_plane: 'dp-12' }));
    expect(one.data_planes.map(({ id }) => id)).toEqual(['dp-12']);
  });

  it('names each data plane that does not answer, and why', async () => {
    const problems: Record<string, Reached> = {
      'dp-1': answered({ format: 1, upstreams: [], problem: 'busy' }),
      'dp-2': { kind: 'not_listening' },
      'dp-3': { kind: 'silent' },
      'dp-4': answered({ format: 99 }),
      'dp-5': { kind: 'away' },
    };
    for (const id of Object.keys(problems)) beat(id, { gateway_version: '0.0.9' });
    reached = (id) => problems[id] ?? { kind: 'away' };
    const view = viewOf(await test({ service_id: serviceId }));
    expect(view.data_planes.map(({ problem }) => problem)).toEqual([
      'busy',
      'too_old',
      'no_answer',
      'too_old',
      'nats_away',
    ]);
    expect(view.data_planes[1]?.message).toContain('its version is 0.0.9');
    expect(view.data_planes.every(({ upstreams }) => upstreams.length === 0)).toBe(true);
  });

  it('is 503 if no live data plane serves the environment', async () => {
    api.clock.advance(120_000);
    expectError(await test({ service_id: serviceId }), 503, 'data_plane_unavailable');
  });

  it('is 429 after too many tests of a token in a minute', async () => {
    const token = await api.makeToken({
      name: 'busy',
      environments: ['production'],
      scopes: ['services:read', 'services:write'],
    });
    for (let at = 0; at < MAX_TESTS_OF_TOKEN; at += 1) {
      expect((await test({ service_id: serviceId }, token)).status).toBe(200);
    }
    const last = await test({ service_id: serviceId }, token);
    expectError(last, 429, 'rate_limit_exceeded');
    expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});
