import { startTestApi, type TestApi } from '@gateway/control-plane/test/api';
import type { TestedUpstream } from '@gateway/shared/connection-tests/test-messages';
import { heartbeatOf } from '@gateway/shared/test/heartbeat';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openGwctl, type Gwctl } from '../../../test/run-gwctl.ts';

const HEALTHY: Omit<TestedUpstream, 'id'> = {
  outcome: 'healthy',
  detail: 'status_200',
  tls_error: null,
  protocol: 'http1',
  tls_version: null,
  certificate_ends_ms: null,
  connect_ms: 3.1,
  duration_ms: 4,
};
const REFUSED = {
  ...HEALTHY,
  outcome: 'failed',
  detail: 'connect_refused',
  protocol: null,
  connect_ms: null,
} as const;

interface Question {
  readonly environment: string;
  readonly service: {
    readonly protocol: string;
    readonly upstreams: readonly { readonly id: string; readonly url: string }[];
  };
}

describe('gwctl services test', () => {
  let api: TestApi;
  let gwctl: Gwctl;
  let asked: Question[] = [];
  beforeAll(async () => {
    api = await startTestApi({
      ask(id, message) {
        if (id === 'old') return Promise.resolve({ kind: 'not_listening' });
        const question = JSON.parse(message.slice(message.indexOf('\n'))) as Question;
        asked.push(question);
        const upstreams = question.service.upstreams.map((one) => {
          return { ...(one.url.includes('away') ? REFUSED : HEALTHY), id: one.id };
        });
        const answer = { format: 1, upstreams, problem: null };
        return Promise.resolve({ kind: 'answer', data: Buffer.from(JSON.stringify(answer)) });
      },
    });
    gwctl = openGwctl({ GATEWAY_URL: api.url, GATEWAY_TOKEN: api.adminToken });
    const service = { name: 'echo', environment: 'production', url: 'http://echo.test' };
    await api.call('POST', '/v1/services', { body: service });
    beat('dp-1');
  });
  afterAll(async () => {
    gwctl.remove();
    await api.close();
  });

  function beat(id: string): void {
    const heartbeat = heartbeatOf(id, { config_versions: { production: 1 }, region: 'eu' });
    api.dataPlanes.take(heartbeat, api.clock.monotonicMs());
  }

  it('shows what each data plane saw of a service', async () => {
    const { stdout, code } = await gwctl.run(['services', 'test', 'echo']);
    expect(stdout).toMatch(/^UPSTREAM +SEEN FROM +RESULT +DETAIL\n/);
    expect(stdout).toMatch(
      /http:\/\/echo\.test +dp-1 \(eu\) +healthy +Reached in 3\.1 ms over HTTP\/1\.1 without TLS\. GET \/healthz answered 200\.\n$/,
    );
    expect(code).toBe(0);
  });

  it('tests addresses that are not saved, and exits with 1 unless all are healthy', async () => {
    asked = [];
    beat('old');
    const line = 'services test --upstream http://a.test --upstream http://away.test';
    const options = ['--protocol', 'auto', '--environment', 'production'];
    const { stdout, stderr, code } = await gwctl.run([...line.split(' '), ...options]);
    expect(asked[0]).toMatchObject({
      environment: 'production',
      service: {
        protocol: 'auto',
        upstreams: [{ url: 'http://a.test' }, { url: 'http://away.test' }],
      },
    });
    expect(stdout).toMatch(
      /http:\/\/away\.test +dp-1 \(eu\) +failed +It refused the connection\.\n/,
    );
    expect(stdout).toMatch(/old \(eu\) +not tested +The data plane does not test connections/);
    expect(stderr).toContain('2 of 3 tests failed');
    expect(code).toBe(1);
  });

  it('has the data planes of one upstream below each other', async () => {
    beat('dp-2');
    const line = 'services test --upstream http://a.test --upstream http://away.test';
    const { stdout } = await gwctl.run([...line.split(' '), '--environment', 'production']);
    const rows = stdout.split('\n').flatMap((row) => /^http\S+ +dp-\d/.exec(row) ?? []);
    expect(rows.map((row) => row.replace(/ +/, ' '))).toEqual([
      'http://a.test dp-1',
      'http://a.test dp-2',
      'http://away.test dp-1',
      'http://away.test dp-2',
    ]);
  });

  it('names the option of a refused value, and needs something to test', async () => {
    const refused = 'services test --upstream ftp://a.test --environment production'.split(' ');
    const { stderr, code } = await gwctl.run(refused);
    expect(stderr).toContain('--upstream (upstreams.0.url)');
    expect(code).not.toBe(0);
    expect((await gwctl.run(['services', 'test'])).stderr).toContain('--upstream is required');
    const url = await gwctl.run(['services', 'test', 'http://a.test']);
    expect(url.stderr).toContain('http://a.test is a URL, not a service; give it with --upstream');
    expect(url.code).toBe(3);
  });
});
