import { fileURLToPath } from 'node:url';
import { runCommand } from '@gateway/tools/process/run-command';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { borrowGateway, type BorrowedGateway } from '../harness/borrowed-gateway.ts';

const script = fileURLToPath(new URL('../../deploy/smoke-test.sh', import.meta.url));
const SMOKE_MS = 60_000;

describe('deploy/smoke-test.sh', () => {
  let gateway: BorrowedGateway;
  beforeAll(async () => {
    gateway = await borrowGateway();
  }, SMOKE_MS);
  afterAll(() => gateway.close());

  function smokeTest(token: string, ...args: string[]) {
    const env = { PATH: process.env['PATH'], TOKEN: token };
    const base = gateway.dataPlanes[0]?.baseUrl ?? '';
    return runCommand('sh', [script, base, ...args], { env, timeoutMs: SMOKE_MS });
  }
  const names = async (kind: string) =>
    (await gateway.admin.get(`/v1/${kind}`)).page().data.map(({ name }) => name);

  it('creates a route, sends a request, reads its record, and leaves nothing behind', async () => {
    const { code, output } = await smokeTest(gateway.admin.token);
    expect(
      output
        .trim()
        .split('\n')
        .map((line) => line.slice(0, 7)),
    ).toEqual(Array.from({ length: 6 }, () => 'ok     '));
    expect(code).toBe(0);
    expect(await names('routes')).toEqual([]);
  });

  it('forwards the request to an upstream that is named', async () => {
    const { code, output } = await smokeTest(gateway.admin.token, gateway.upstream.url);
    expect(output).toContain(`a service with the upstream ${gateway.upstream.url}`);
    expect(code).toBe(0);
    expect([...(await names('routes')), ...(await names('services'))]).toEqual([]);
  });

  it('says what was expected and ends with 1 if a step fails', async () => {
    const { code, output } = await smokeTest('gwt_wrong');
    expect(output).toContain('FAILED the management API accepts the token: expected 200, got 401');
    expect(code).toBe(1);
  });
});
