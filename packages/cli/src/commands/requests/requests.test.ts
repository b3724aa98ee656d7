import { storableRecord } from '@gateway/control-plane/requests/ingest/storable-record';
import { insertRecords } from '@gateway/control-plane/requests/store/records';
import { startTestApi, type TestApi } from '@gateway/control-plane/test/api';
import { heartbeatOf } from '@gateway/shared/test/heartbeat';
import { requestRecord, timing } from '@gateway/shared/test/request-record';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openGwctl, type Gwctl } from '../../../test/run-gwctl.ts';

const UPSTREAM = 'http://127.0.0.1:9';
const SECOND = 'http://127.0.0.1:10';

describe('gwctl on requests', () => {
  let api: TestApi;
  let gwctl: Gwctl;
  beforeAll(async () => {
    api = await startTestApi();
    gwctl = openGwctl({ GATEWAY_URL: api.url, GATEWAY_TOKEN: api.adminToken });
    const service = { name: 'echo', environment: 'production', url: UPSTREAM };
    const { json } = await api.call('POST', '/v1/services', { body: service });
    const service_id = json.data?.id;
    await api.call('POST', '/v1/routes', { body: { name: 'echo', service_id } });
    const beat = heartbeatOf('dp-1', { config_versions: { production: 1 } });
    api.dataPlanes.take(beat, api.clock.monotonicMs());
  });
  afterAll(async () => {
    gwctl.remove();
    await api.close();
  });

  it('lists requests, and draws the attempts of one', async () => {
    const slow = requestRecord(api.clock.nowMs(), {
      status: 504,
      outcome: 'timeout',
      error_code: 'upstream_timeout',
      error_stage: 'forward',
      timing: timing({ upstream_ms: 1500 }),
    });
    const usual = requestRecord(api.clock.nowMs());
    await insertRecords(api.db, [slow, usual].map(storableRecord));
    const list = 'requests list --route echo --min-duration-ms 1000 --outcome timeout'.split(' ');
    const listed = await gwctl.run(list);
    expect(listed.stdout).toMatch(
      new RegExp(`^TIME .*\n\\S+ +504 +timeout +1\\.5 s +0 +POST +/v1/proxy/echo +${slow.id}\n$`),
    );
    const shown = await gwctl.run(['requests', 'get', slow.id]);
    expect(shown.code).toBe(0);
    expect(shown.stdout).toContain(
      'POST /v1/proxy/echo\n504 timeout (upstream_timeout by forward) after 1.5 s\n  gateway   1 ms   0.07 %\n  upstream  1.5 s  99.93 %\n',
    );
    expect(shown.stdout).toMatch(
      /\n {2}1 {2}http:\/\/127\.0\.0\.1:9000 {2}- +#[#.]+ {2}12 ms {2}200\n/,
    );
    const posted = await gwctl.run([...list, '--method', 'POST']);
    expect(posted.stdout).toBe(listed.stdout);
    // A route may list `patch` beside PATCH.
    const lower = { ...requestRecord(api.clock.nowMs()), method: 'patch' };
    await insertRecords(api.db, [storableRecord(lower)]);
    const patched = await gwctl.run(['requests', 'list', '--method', 'patch', '-o', 'json']);
    expect(JSON.parse(patched.stdout)).toMatchObject([{ id: lower.id }]);
    const json = await gwctl.run(['requests', 'get', usual.id, '-o', 'json']);
    expect(JSON.parse(json.stdout)).toMatchObject({ id: usual.id, status: 200 });
  });

  it('names what a record has the ids of: the service, the token and the upstream of each attempt', async () => {
    const body = {
      name: 'pair',
      environment: 'production',
      upstreams: [{ url: UPSTREAM }, { url: SECOND }],
    };
    const service = (await api.call('POST', '/v1/services', { body })).json.data?.id ?? '';
    const health = await gwctl.run(['services', 'health', 'pair', '-o', 'json']);
    const { upstreams } = JSON.parse(health.stdout) as { upstreams: { id: string; url: string }[] };
    const [first, second] = upstreams;
    const tokens = await gwctl.run(['tokens', 'list', '-o', 'json']);
    const [{ id: token }] = JSON.parse(tokens.stdout) as [{ id: string }];
    const attempt = { region: null, started_ms: 1, duration_ms: 2 };
    const record = requestRecord(api.clock.nowMs(), {
      service_id: service,
      token_id: token,
      retry_count: 1,
      upstream: { id: second?.id ?? '', url: SECOND, region: null },
      attempts: [
        { ...attempt, upstream: first?.id ?? '', error: 'reset' },
        { ...attempt, upstream: second?.id ?? '', status: 200 },
      ],
    });
    await insertRecords(api.db, [storableRecord(record)]);
    const { stdout } = await gwctl.run(['requests', 'get', record.id]);
    expect(stdout).toMatch(/\n {2}1 {2}http:\/\/127\.0\.0\.1:9 .* reset\n/);
    expect(stdout).toMatch(/^ {2}service +pair$/m);
    expect(stdout).toMatch(/^ {2}token +admin$/m);
    expect(stdout).not.toMatch(/svc_|tok_|ups_/);
    const wide = await gwctl.run(['requests', 'get', record.id, '-o', 'wide']);
    expect(wide.stdout).toContain(`pair (${service})`);
    expect(wide.stdout).toContain(`admin (${token})`);
    const listed = await gwctl.run(['requests', 'list', '--upstream', SECOND, '-o', 'wide']);
    expect(listed.stdout).toMatch(/ admin +data-plane-1\n$/);
    const audited = await gwctl.run(['audit', '--action', 'service.created']);
    expect(audited.stdout).toMatch(/ service\.created +pair +production +admin +aud_\w+$/m);
    const made = await gwctl.run(['tokens', 'list', '-o', 'wide']);
    expect(made.stdout).not.toMatch(/ tok_\w+\n/);
  });

  it.each(['requests list', 'requests tail', 'requests tail -f'])(
    '%s refuses a route that does not exist, unless there are requests to it',
    async (line) => {
      const search = [...line.split(' '), '--environment', 'production', '--route'];
      expect(await gwctl.run([...search, 'ecko'])).toEqual({
        code: 1,
        stdout: '',
        stderr: 'gwctl: there is no route ecko in production; did you mean echo?\n',
      });
    },
  );

  it('finds the requests of a route that was deleted, or never was', async () => {
    const lost = requestRecord(api.clock.nowMs(), { route: 'gone', status: 404 });
    await insertRecords(api.db, [storableRecord(lost)]);
    const { code, stdout } = await gwctl.run(['requests', 'list', '--route', 'gone', '-o', 'name']);
    expect([code, stdout]).toEqual([0, `${lost.id}\n`]);
  });

  it('colours by meaning, and leaves data alone', async () => {
    const failed = requestRecord(api.clock.nowMs(), {
      route: 'coloured',
      status: 503,
      outcome: 'upstream_error',
    });
    await insertRecords(api.db, [storableRecord(failed)]);
    const list = ['requests', 'list', '--route', 'coloured'];
    const coloured = await gwctl.run([...list, '--color', 'always']);
    expect(coloured.stdout).toContain('\u001b[31m503\u001b[39m');
    expect(coloured.stdout).toContain('\u001b[31mupstream_error\u001b[39m');
    for (const more of [['--color', 'never'], [], ['--color', 'always', '-o', 'json']]) {
      expect((await gwctl.run([...list, ...more])).stdout).not.toContain('\u001b');
    }
  });

  it('lists how gRPC calls ended, and finds them by the name of a status', async () => {
    const call = requestRecord(api.clock.nowMs(), { route: 'calls', grpc_status: 14 });
    const left = {
      ...requestRecord(api.clock.nowMs(), { route: 'calls', status: null }),
      grpc_status: 1,
    };
    await insertRecords(api.db, [call, left].map(storableRecord));
    const list = (...more: string[]) =>
      gwctl.run(['requests', 'list', '--route', 'calls', ...more]);
    expect((await list('--grpc-status', 'unavailable')).stdout).toMatch(
      new RegExp(`^TIME .*\n\\S+ +200 gRPC 14 UNAVAILABLE +success .* ${call.id}\n$`),
    );
    expect((await list()).stdout).toContain('- gRPC 1 CANCELLED');
    const wrong = await list('--grpc-status', 'UNAVAILABL');
    expect(wrong.code).toBe(3);
    expect(wrong.stderr).toContain('0 to 16, or a name such as UNAVAILABLE');
  });

  it.each([
    'routes list',
    'services list',
    'requests list',
    'requests tail',
    'stats',
    'data-planes',
    'audit',
  ])('%s refuses an environment that does not exist', async (line) => {
    const words = line.split(' ');
    const ran = await gwctl.run([...words, '--environment', 'prodution']);
    expect([ran.code, ran.stdout]).toEqual([1, '']);
    expect(ran.stderr).toContain(
      'gwctl: there is no environment prodution; did you mean production?\n',
    );
    const right = await gwctl.run([...words, '--environment', 'development']);
    expect([right.code, right.stderr]).toEqual([0, '']);
  });

  it.each([
    ['an unknown request', ['requests', 'get', 'req_1'], 1, '(404 request_not_found)'],
    ['a wrong time', ['requests', 'list', '--since', 'noon'], 3, 'It must be a time'],
    ['an unknown outcome', ['requests', 'list', '--outcome', 'fine'], 1, '  outcome: '],
  ])('%s ends with a clear error', async (_what, args, code, message) => {
    const ran = await gwctl.run(args);
    expect({ code: ran.code, stdout: ran.stdout }).toEqual({ code, stdout: '' });
    expect(ran.stderr).toContain(message);
  });
});
