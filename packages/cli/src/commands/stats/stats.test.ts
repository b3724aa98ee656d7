import { storableRecord } from '@gateway/control-plane/requests/ingest/storable-record';
import { insertRecords } from '@gateway/control-plane/requests/store/records';
import { startTestApi, type TestApi } from '@gateway/control-plane/test/api';
import type { RequestRecord } from '@gateway/shared/records/record';
import { requestRecord } from '@gateway/shared/test/request-record';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openGwctl, type Gwctl } from '../../../test/run-gwctl.ts';

const MINUTE_MS = 60_000;

describe('gwctl stats', () => {
  let api: TestApi;
  let gwctl: Gwctl;
  /** The period, by the clock of the API. */
  let period: readonly string[];
  beforeAll(async () => {
    api = await startTestApi();
    gwctl = openGwctl({ GATEWAY_URL: api.url, GATEWAY_TOKEN: api.adminToken });
    const hour = api.clock.nowMs() - 60 * MINUTE_MS;
    period = [
      '--since',
      new Date(hour).toISOString(),
      '--until',
      new Date(hour + 60 * MINUTE_MS).toISOString(),
    ];
    const failed = { status: 502, outcome: 'upstream_unavailable' } as const;
    const at = (minute: number, changes: Partial<RequestRecord> = {}) =>
      requestRecord(hour + minute * MINUTE_MS, changes);
    const first = Array.from({ length: 8 }, () => at(1, { route_version: 'stable' }));
    const last = [at(50), at(51, failed), at(52, { route: 'other' })];
    const hello = { environment: 'development', route: 'hello' };
    const calls = [
      at(53, { ...hello, grpc_status: 0 }),
      at(54, { ...hello, grpc_status: 14, outcome: 'upstream_error' }),
    ];
    await insertRecords(api.db, [...first, ...last, ...calls].map(storableRecord));
  });
  afterAll(async () => {
    gwctl.remove();
    await api.close();
  });
  const stats = (...args: string[]) => gwctl.run(['stats', ...args, ...period]);

  it('shows the totals of a route, and a bar for each step, also for those without requests', async () => {
    const { code, stdout, stderr } = await stats('echo', '--environment', 'production');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toBe(`echo in production
2029-12-31 23:00Z to 2030-01-01 00:00Z
10 requests, 1 error (10 %), p50 12 ms, p95 12 ms, p99 12 ms

TIME               REQUESTS                                       ERRORS  SHARE  P50    P95    P99
2029-12-31 23:00Z         8  ###################################       0  0 %    12 ms  12 ms  12 ms
2029-12-31 23:15Z         0                                            0  -      -      -      -
2029-12-31 23:30Z         0                                            0  -      -      -      -
2029-12-31 23:45Z         2  ####xxxxx                                 1  50 %   12 ms  12 ms  12 ms
`);
  });

  it('counts all routes of the environment, and filters', async () => {
    const total = async (...args: string[]) => {
      const { stdout } = await stats('-o', 'json', ...args);
      return (JSON.parse(stdout) as { total: { requests: number } }).total.requests;
    };
    expect(await total()).toBe(13);
    expect(await total('echo', '--status', '5xx')).toBe(1);
    expect(await total('--outcome', 'success')).toBe(11);
    expect(await total('--environment', 'development')).toBe(2);
    expect(await total('--grpc-status', '14')).toBe(1);
    expect(await total('--grpc-status', 'unavailable')).toBe(1);
    const none = await stats('--outcome', 'timeout');
    expect(none.stdout).toMatch(/^all environments\n.*\n0 requests, 0 errors \(0 %\)\n$/);
    expect((await stats('echo', '-o', 'yaml')).stdout).toMatch(/^total:\n {2}requests: 10$/m);
  });

  it('refuses a route that does not exist, so that a typo does not read as all quiet', async () => {
    const service = { name: 'pay', environment: 'production', url: 'http://127.0.0.1:9' };
    const { json } = await api.call('POST', '/v1/services', { body: service });
    const body = { name: 'quiet', service_id: json.data?.id };
    await api.call('POST', '/v1/routes', { body });
    const quiet = await stats('quiet', '--environment', 'production');
    expect([quiet.code, quiet.stdout]).toEqual([0, expect.stringContaining('0 requests')]);
    const typo = await stats('qiuet', '--environment', 'production');
    expect(typo).toEqual({
      code: 1,
      stdout: '',
      stderr: 'gwctl: there is no route qiuet in production; did you mean quiet?\n',
    });
    // Its records are still there.
    expect((await stats('echo')).code).toBe(0);
  });

  it('shows with which statuses gRPC calls ended', async () => {
    const { stdout } = await stats('hello');
    expect(stdout.split('\n').slice(2, 4)).toEqual([
      '2 requests, 1 error (50 %), p50 12 ms, p95 12 ms, p99 12 ms',
      'gRPC calls by status: 0 OK 1, 14 UNAVAILABLE 1',
    ]);
  });

  it('has a row for each version, and for each class of status', async () => {
    const byVersion = await stats('echo', '--environment', 'production', '--by', 'version');
    const rows = byVersion.stdout.split('\n\n').at(-1);
    expect(rows).toBe(`VERSION  REQUESTS  PART  ERRORS  SHARE  P50    P95    P99
stable          8  80 %       0  0 %    12 ms  12 ms  12 ms
none            2  20 %       1  50 %   12 ms  12 ms  12 ms
`);
    const byStatus = await stats('echo', '--by', 'status');
    expect(byStatus.stdout).toMatch(/^2xx +9 +90 % +0 /m);
    const all = await stats('--by', 'version');
    expect([all.code, all.stderr]).toEqual([1, expect.stringContaining('route')]);
  });

  it('takes the step that it is given, and refuses others', async () => {
    const { stdout } = await stats('-o', 'json', '--step', '1h');
    expect((JSON.parse(stdout) as { steps: unknown[] }).steps).toHaveLength(1);
    const wrong = await stats('--step', '2h');
    expect([wrong.code, wrong.stderr]).toEqual([
      3,
      expect.stringContaining('Allowed choices are 1m, 15m'),
    ]);
    const status = await stats('--status', '500');
    expect([status.code, status.stderr]).toEqual([1, expect.stringContaining('  status_class: ')]);
  });
});
