import { startTestApi, type TestApi } from '@gateway/control-plane/test/api';
import { heartbeatOf } from '@gateway/shared/test/heartbeat';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openGwctl, type Gwctl } from '../../../test/run-gwctl.ts';

const UPSTREAM = 'http://127.0.0.1:9';
const SECRET = `gwt_${'s'.repeat(43)}`;

/** What a data plane answers. */
const explanation = {
  data_plane: 'dp-1',
  region: 'eu-west',
  environment: 'production',
  config_version: 42,
  route_id: null,
  outcome: {
    decision: 'refuse',
    stage: 'quota',
    status: 429,
    code: 'rate_limit_exceeded',
    grpc_status: null,
    reason: 'The quota is used up.',
    retry_after_seconds: 17,
  },
  stages: [
    { name: 'authenticate', decision: 'continue', reason: 'The token is valid.' },
    { name: 'quota', decision: 'refuse', reason: 'None of 60 remain.' },
    { name: 'forward', decision: 'not_reached', reason: 'The request is refused before.' },
  ],
  authentication: { type: 'token', token_id: 'tok_1', refused_by: null, failures_remaining: 600 },
  version: null,
  quota: null,
  idempotency: null,
  rewrite: null,
  cors: null,
  upstreams: null,
  retry_policy: null,
  grpc: null,
  trailers: null,
  locations: null,
  timeouts: null,
  request_headers: null,
  mirror: null,
};

describe('gwctl explain', () => {
  let api: TestApi;
  let gwctl: Gwctl;
  let asked: string[] = [];
  let answered: object = explanation;
  const beat = () =>
    api.dataPlanes.take(
      heartbeatOf('dp-1', { config_versions: { production: 1 } }),
      api.clock.monotonicMs(),
    );
  beforeAll(async () => {
    api = await startTestApi({
      ask(_id, message) {
        asked.push(message);
        const answer = { format: 1, explanation: answered, problem: null };
        return Promise.resolve({ kind: 'answer', data: Buffer.from(JSON.stringify(answer)) });
      },
    });
    gwctl = openGwctl({ GATEWAY_URL: api.url, GATEWAY_TOKEN: api.adminToken });
    const service = { name: 'echo', environment: 'production', url: UPSTREAM };
    const { json } = await api.call('POST', '/v1/services', { body: service });
    const service_id = json.data?.id;
    await api.call('POST', '/v1/routes', { body: { name: 'echo', service_id } });
    beat();
  });
  afterAll(async () => {
    gwctl.remove();
    await api.close();
  });

  it('explains a request, and sends what the command line says', async () => {
    asked = [];
    const ran = await gwctl.run(
      [
        'explain',
        'echo',
        '/17?full=1',
        '-X',
        'PUT',
        '-H',
        'X-One: 1',
        '-H',
        'constructor: 2',
        '-H',
        '@-',
      ],
      { stdin: `Authorization: Bearer ${SECRET}\n` },
    );
    expect(ran.stderr).toBe('');
    expect(ran.stdout)
      .toBe(`refuse with 429 rate_limit_exceeded at quota, retry after 17 s: The quota is used up.
dp-1 in eu-west, production version 42

  + authenticate  The token is valid.
  x quota         None of 60 remain.
  . not reached: forward

  auth          token tok_1
`);
    const question = JSON.parse(asked[0] ?? '') as { fields: string[] };
    expect(question).toMatchObject({ method: 'PUT', path: '/v1/proxy/echo/17', query: '?full=1' });
    expect(question.fields).toEqual(expect.arrayContaining(['1', '2', `Bearer ${SECRET}`]));
    for (const [type, method] of [
      ['application/grpc', 'POST'],
      ['application/grpc+proto', 'POST'],
      ['application/grpc-web', 'GET'],
    ]) {
      asked = [];
      await gwctl.run(['explain', 'echo', '--anonymous', '-H', `Content-Type: ${type}`]);
      expect(JSON.parse(asked[0] ?? '')).toMatchObject({ method });
    }
    const json = await gwctl.run(['explain', 'echo', '--anonymous', '-o', 'json']);
    expect(JSON.parse(json.stdout)).toEqual({ ...explanation, reached_by: null });
  });

  it('says with which gRPC status a refused call ends', async () => {
    const ends = { status: 401, code: 'authentication_failed', grpc_status: 16 };
    const outcome = { ...explanation.outcome, decision: 'refuse', ...ends } as const;
    answered = { ...explanation, outcome };
    const ran = await gwctl.run(['explain', 'echo', '--anonymous']);
    answered = explanation;
    expect(ran.stdout).toContain('refuse with 401 authentication_failed gRPC 16 UNAUTHENTICATED');
  });

  it('names the tokens of an explanation, and shows its times in units of people, except as data', async () => {
    const tokens = await gwctl.run(['tokens', 'list', '-o', 'json']);
    const [{ id }] = JSON.parse(tokens.stdout) as [{ id: string }];
    const unknown = 'tok_01kb5zv4x8n3m6q9r2t7w0y1z4';
    const reason = `The token ${id} is valid, not ${unknown}.`;
    answered = {
      ...explanation,
      stages: [{ name: 'authenticate', decision: 'continue', reason }],
      authentication: { ...explanation.authentication, token_id: id },
      retry_policy: 'At most 1 retry within 5000 ms (timeout_ms).',
    };
    const ran = await gwctl.run(['explain', 'echo', '--anonymous']);
    const wide = await gwctl.run(['explain', 'echo', '--anonymous', '-o', 'wide']);
    const json = await gwctl.run(['explain', 'echo', '--anonymous', '-o', 'json']);
    answered = explanation;
    expect(ran.stdout).toMatch(/^ {2}retries +At most 1 retry within 5 s \(timeout_ms\)\.$/m);
    expect(JSON.parse(json.stdout)).toMatchObject({
      authentication: { token_id: id },
      retry_policy: 'At most 1 retry within 5000 ms (timeout_ms).',
    });
    expect(ran.stdout).toContain(`The token admin is valid, not ${unknown}.`);
    expect(ran.stdout).toMatch(/^ {2}auth +token admin$/m);
    expect(wide.stdout).toContain(`token admin (${id})`);
  });

  it('explains a request by host and path, and names the way that takes it', async () => {
    asked = [];
    const way = { hosts: ['*.example.com'], paths: [{ prefix: '/v2' }], headers: [] };
    const reason = 'The request takes this way.';
    const reached_by = { environment: 'production', route: 'echo', way, reason };
    answered = { ...explanation, reached_by };
    const ran = await gwctl.run(['explain', 'echo', '/v2/17', '--host', 'api.example.com']);
    answered = explanation;
    expect(ran.stdout).toMatch(/\n {2}reached +echo, at \*\.example\.com\/v2\/…\n/);
    const question = JSON.parse(asked[0] ?? '') as { fields: string[] };
    expect(question).toMatchObject({
      path: '/v2/17',
      asked: { environment: 'production', name: 'echo' },
    });
    expect(question.fields.slice(0, 2)).toEqual(['host', 'api.example.com']);
  });

  it('says what a route rewrites', async () => {
    const none = { set: [], add: [], remove: [] };
    const rewrite = {
      path: '/v3/17',
      host: null,
      query: { set: [{ name: 'a', value: '1' }], remove: ['b'] },
      request_headers: { ...none, set: [{ name: 'X-A', value: null }] },
      response_headers: { ...none, add: [{ name: 'X-B', value: '1' }], remove: ['Server'] },
    };
    answered = { ...explanation, rewrite };
    const ran = await gwctl.run(['explain', 'echo', '/17', '--anonymous']);
    answered = explanation;
    expect(ran.stdout.replaceAll(/\n +(?=[a-zA-Z])/g, ' ')).toContain(
      'path /v3/17, Host of the upstream; query: sets a, removes b; request: sets X-A; response: adds X-B, removes Server',
    );
  });

  it('says of a gRPC call which statuses are retried, and which count against the upstream', async () => {
    const names = ['UNAVAILABLE'];
    const reason = 'No gRPC status is retried. UNAVAILABLE counts against the upstream.';
    answered = { ...explanation, grpc: { retried: [], against_upstream: names, reason } };
    const ran = await gwctl.run(['explain', 'echo', '--anonymous']);
    answered = explanation;
    expect(ran.stdout.replaceAll(/\n +(?=[a-zA-Z])/g, ' ')).toMatch(
      / gRPC +No gRPC status is retried\. UN/,
    );
    expect((await gwctl.run(['explain', 'echo', '--anonymous'])).stdout).not.toContain('gRPC');
  });

  it('says what to do if no caller was given, and leaves out what is not known', async () => {
    const authentication = {
      type: null,
      token_id: null,
      refused_by: 'no_credential',
      failures_remaining: 600,
    };
    answered = { ...explanation, environment: null, config_version: null, authentication };
    const ran = await gwctl.run(['explain', 'echo']);
    const anonymous = await gwctl.run(['explain', 'echo', '--anonymous']);
    answered = explanation;
    expect(ran.stdout).toContain('\ndp-1 in eu-west\n');
    expect(ran.stdout).not.toContain('auth  ');
    expect(ran.stderr).toBe('No caller was given: --token NAME explains the request of a token.\n');
    expect([anonymous.code, anonymous.stderr]).toEqual([0, '']);
  });

  it.each([
    ['a token in an argument', ['explain', 'echo', '-H', `X: ${SECRET}`], 3, 'use --token NAME'],
    ['a header that is none', ['explain', 'echo', '-H', 'nothing'], 3, "must be 'Name: value'"],
    ['an unknown token', ['explain', 'echo', '--token', 'nobody'], 1, 'there is no token nobody'],
    ['an unknown route', ['explain', 'nowhere'], 1, 'there is no route nowhere'],
    ['a wrong path', ['explain', 'echo', 'seventeen'], 1, '  path: '],
    ['an unknown data plane', ['explain', 'echo', '--data-plane', 'x'], 1, '  data_plane: '],
  ])('%s ends with a clear error', async (_what, args, code, message) => {
    const ran = await gwctl.run(args);
    expect({ code: ran.code, stdout: ran.stdout }).toEqual({ code, stdout: '' });
    expect(ran.stderr).toContain(message);
    expect(ran.stderr).not.toContain(SECRET);
  });

  it('says within seconds that no data plane is live', async () => {
    api.clock.advance(60_000);
    const ran = await gwctl.run(['explain', 'echo']);
    beat();
    expect([ran.code, ran.stderr]).toEqual([5, expect.stringContaining('No data plane is live.')]);
  });
});
