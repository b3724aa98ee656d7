import { startPostgresPair, type PostgresPair } from '@gateway/testing/postgres-pair';
import { createPlaneStack, type PlaneStack } from '@gateway/testing/processes';
import { eventually } from '@gateway/shared/test/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createClient } from '../harness/client.ts';
import { reencrypt } from '../security/secrets/reencrypt.ts';

const testTimeoutMs = 60_000;

/** The second test ends the primary, the third one needs that. */
describe('a control plane with a primary and a standby in DATABASE_URL', () => {
  let stack: PlaneStack;
  let pair: PostgresPair;
  let env: { DATABASE_URL: string };
  let plane: Awaited<ReturnType<PlaneStack['startControlPlane']>>;
  beforeAll(async () => {
    [stack, pair] = await Promise.all([createPlaneStack(), startPostgresPair()]);
    env = { DATABASE_URL: pair.url() };
    plane = await stack.startControlPlane({ env });
  }, testTimeoutMs);
  afterAll(async () => {
    await stack.close();
    await pair.close();
  });

  const encrypt = () => reencrypt({ ...env, GATEWAY_MASTER_KEYS: stack.masterKeys });
  const reasons = () =>
    `127\\.0\\.0\\.1:${pair.primary.port}: .*ECONNREFUSED.*; 127\\.0\\.0\\.1:${pair.standby.port} is a standby`;

  it('serves, and the re-encryption finds the primary', async () => {
    const client = createClient(plane.baseUrl, stack.adminToken);
    expect((await client.get('/v1/services')).status).toBe(200);
    expect(await encrypt()).toMatchObject({ code: 0 });
  });

  it(
    'answers 503 without a primary, and says in /readyz what is wrong with each server',
    async () => {
      await pair.primary.process.stop('SIGKILL');
      const client = createClient(plane.baseUrl, stack.adminToken);
      await eventually(async () => {
        const { status, headers } = await client.call('GET', '/v1/services');
        expect([status, headers.get('retry-after')]).toEqual([503, '1']);
        const response = await fetch(`${plane.adminUrl}/readyz`);
        expect(response.status).toBe(503);
        expect(await response.text()).toMatch(new RegExp(reasons()));
      });
    },
    testTimeoutMs,
  );

  it(
    'waits at the start, as the re-encryption does not, and both name each server',
    async () => {
      const { code, output } = await encrypt();
      expect(code).toBe(1);
      expect(output).toMatch(new RegExp(`re-encryption failed: no Postgres server .*${reasons()}`));
      const waiting = await stack.startControlPlane({ env, waitForReady: false });
      await eventually(async () => {
        const text = await (await fetch(`${waiting.adminUrl}/readyz`)).text();
        expect(text).toMatch(new RegExp(reasons()));
      });
      await pair.promote();
      await eventually(async () =>
        expect((await fetch(`${waiting.adminUrl}/readyz`)).status).toBe(200),
      );
    },
    testTimeoutMs,
  );
});
