import { storableRecord } from '@gateway/control-plane/requests/ingest/storable-record';
import { insertRecords } from '@gateway/control-plane/requests/store/records';
import { startTestApi, type TestApi } from '@gateway/control-plane/test/api';
import type { RequestRecord } from '@gateway/shared/records/record';
import { requestRecord } from '@gateway/shared/test/request-record';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openGwctl, type Gwctl } from '../../../test/run-gwctl.ts';

const MINUTE_MS = 60_000;
const FAILED = { status: 502, outcome: 'upstream_error' } as const;
const LIMITED = { status: 429, outcome: 'rejected', error_code: 'rate_limit_exceeded' } as const;

describe('who sends requests, and how they end', () => {
  let api: TestApi;
  let gwctl: Gwctl;
  let period: readonly string[];
  let service: string;
  beforeAll(async () => {
    api = await startTestApi();
    gwctl = openGwctl({ GATEWAY_URL: api.url, GATEWAY_TOKEN: api.adminToken });
    const token = await idOf('/v1/tokens', {
      name: 'checkout',
      environments: ['production'],
      scopes: ['proxy'],
    });
    service = await idOf('/v1/services', {
      name: 'pay',
      environment: 'production',
      url: 'http://127.0.0.1:9',
    });
    const from = api.clock.nowMs() - 60 * MINUTE_MS;
    period = ['--since', iso(from), '--until', iso(from + 60 * MINUTE_MS)];
    const at = (minute: number, changes: Partial<RequestRecord>) =>
      requestRecord(from + minute * MINUTE_MS, { service_id: service, ...changes });
    const mine = { token_id: token };
    const bob = { token_id: null, subject: 'bob', rate_limit: null };
    await insertRecords(
      api.db,
      [
        at(1, mine),
        at(2, { ...mine, rate_limit: { limit: 100, remaining: 4, reset_seconds: 9 } }),
        at(2, { ...mine, ...LIMITED }),
        at(50, bob),
        at(50, { ...bob, ...FAILED }),
        at(51, { ...bob, ...FAILED, route: 'other' }),
        at(52, { token_id: null, rate_limit: null, route: 'other' }),
      ].map(storableRecord),
    );
  });
  afterAll(async () => {
    gwctl.remove();
    await api.close();
  });

  const iso = (ms: number) => new Date(ms).toISOString();
  async function idOf(path: string, body: object): Promise<string> {
    const { json } = await api.call('POST', path, { body });
    return json.data?.id as string;
  }
  const run = (...args: string[]) => gwctl.run([...args, '--environment', 'production', ...period]);
  const rowsOf = (text: string) =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/));

  it('lists callers by name, with their errors, their 429 and the quota that they used most', async () => {
    const { code, stdout, stderr } = await run('callers', '--order', 'quota-used');
    expect([code, stderr]).toEqual([0, '']);
    expect(rowsOf(stdout).map((row) => row.slice(0, 6))).toEqual([
      ['CALLER', 'REQUESTS', 'ERRORS', '429', 'P95', 'QUOTA USED'],
      ['checkout', '3', '0', '1', '13 ms', '96 % of echo'],
      ['bob', '3', '2', '0', '13 ms', '-'],
      ['without credentials', '1', '0', '0', '13 ms', '-'],
    ]);
    const failing = await run('callers', '--order', 'errors', '--limit', '1', '-o', 'json');
    expect(JSON.parse(failing.stdout)).toMatchObject([{ subject: 'bob', errors: 2 }]);
    expect(rowsOf((await run('callers', '--route', 'other')).stdout)).toHaveLength(3);
    expect((await run('callers', '--token', 'checkout', '-o', 'name')).stdout).toMatch(
      /^tok_\w+$/m,
    );
    expect((await run('callers', '--route', 'ecco')).stderr).toContain('there is no route ecco');
  });

  it('shows 429 apart from errors, in the totals and in each step that has a column for it', async () => {
    const { stdout } = await run('stats', '--step', '15m');
    const [, , totals, , heading, first, ...others] = stdout.split('\n');
    expect(totals).toMatch(/^7 requests, 2 errors \(29 %\), 1 with 429 \(14 %\), p50/);
    expect(heading).toMatch(/ERRORS {2}SHARE +429 {2}P50/);
    expect(first).toMatch(/ 0 {2}0 % +1 {2}12 ms/);
    expect(others.join('\n')).toMatch(/ 2 {2}50 % +0 {2}12 ms/);
    expect((await run('stats', 'other')).stdout).not.toContain('429');
    const byStatus = await run('stats', '--by', 'status');
    expect(byStatus.stdout).toMatch(/^429 +1 {2}14 % +0 {2}/m);
  });

  it('counts by service with its name, and by route in an order', async () => {
    const byService = await run('stats', '--by', 'service');
    expect(byService.stdout).toMatch(/^SERVICE +REQUESTS/m);
    expect(byService.stdout).toMatch(/^pay +7 {2}100 % +2 {2}29 %/m);
    expect((await run('stats', '--by', 'service', '-o', 'json')).stdout).toContain(service);
    const byRoute = await run('stats', '--by', 'route', '--order', 'error-rate');
    expect(rowsOf(byRoute.stdout).map((row) => row.slice(0, 6))).toEqual([
      ['ROUTE', 'ENVIRONMENT', 'REQUESTS', 'ERRORS', 'SHARE', 'REFUSED'],
      ['other', 'production', '2', '1', '50 %', '0'],
      ['echo', 'production', '5', '1', '20 %', '1'],
    ]);
    expect((await run('stats', '--by', 'route', '-o', 'name')).stdout).toBe('echo\nother\n');
  });

  it.each([
    [['--by', 'route', 'echo'], '--by route counts all routes'],
    [['--by', 'route', '--status', '5xx'], '--by route takes --since, --until and --order only'],
    [['--order', 'p95'], '--order needs --by route'],
  ])('refuses stats %j, which would count something else', async (args, message) => {
    const { code, stdout, stderr } = await run('stats', ...args);
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toContain(message);
  });

  it('lists and follows the failed requests alone', async () => {
    const listed = await run('requests', 'list', '--failed', '-o', 'jsonpath=$[*].status');
    expect(listed.stdout).toBe('502\n502\n');
    const last = await gwctl.run(
      'requests tail --failed --since 2d -o jsonpath=$.route'.split(' '),
    );
    expect(last.stdout).toBe('echo\nother\n');
  });
});
