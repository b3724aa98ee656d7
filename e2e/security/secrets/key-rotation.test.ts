import { randomBytes } from 'node:crypto';
import { eventually } from '@gateway/shared/test/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../../harness/gateway.ts';
import { reencrypt } from './reencrypt.ts';

const startTimeoutMs = 90_000;
const SERVICES = 30;

type Plane = Gateway['controlPlane'];
interface Readiness {
  readonly status: string;
  readonly reasons: readonly string[];
}

async function readiness(plane: Plane): Promise<string> {
  const answer = (await (await fetch(`${plane.adminUrl}/readyz`)).json()) as Readiness;
  return `${answer.status}: ${answer.reasons.join('; ')}`;
}

async function sampleOf(plane: Plane, name: string): Promise<string | undefined> {
  const text = await (await fetch(`${plane.adminUrl}/metrics`)).text();
  return text
    .split('\n')
    .find((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
}

/** The steps of "Master keys" in docs/run/security.md, on a gateway that serves traffic meanwhile. */
describe('a rotation of the master key', () => {
  let gateway: Gateway;
  let newKey: string;
  const started: Plane[] = [];
  const tokens = Array.from({ length: SERVICES }, () => randomBytes(12).toString('hex'));
  const proxyTo = (plane: Plane, route: string) => gateway.admin.at(plane.baseUrl).proxy(route);
  const withKeys = (GATEWAY_MASTER_KEYS: string) => ({ env: { GATEWAY_MASTER_KEYS } });

  beforeAll(async () => {
    gateway = await startGateway({ dataPlanes: 1 });
    newKey = `k2:${randomBytes(32).toString('base64')}`;
    for (const [at, token] of tokens.entries()) {
      const credential = { type: 'bearer', token };
      const { id } = await gateway.service({ credential });
      await gateway.route({ name: `guarded-${at}`, service_id: id });
    }
    await gateway.route({ name: 'open' });
    await gateway.settled();
  }, startTimeoutMs);
  afterAll(() => gateway.close());

  it(
    '1: data planes get the new key first, then the control plane makes it the newest key',
    async () => {
      const { stack, controlPlane } = gateway;
      const both = `${newKey},${stack.masterKeys}`;
      started.push(await stack.startDataPlane(withKeys(`${stack.masterKeys},${newKey}`)));
      await controlPlane.stop();
      const [port] = controlPlane.ports;
      if (port === undefined) throw new Error('the control plane has no port');
      started.push(await stack.startControlPlane({ ...withKeys(both), port }));
      const [served] = started;
      if (served === undefined) throw new Error('no data plane was started');
      // From now on, secrets are encrypted and configurations signed with the new key.
      const { id } = await gateway.service({ credential: { type: 'bearer', token: 'made-later' } });
      await gateway.route({ name: 'made-later', service_id: id });
      await eventually(async () => expect((await proxyTo(served, 'made-later')).status).toBe(200));
      expect((await proxyTo(served, 'guarded-0')).status).toBe(200);
    },
    startTimeoutMs,
  );

  it('a data plane without the new key keeps serving its configuration, and names the key', async () => {
    const [old] = gateway.dataPlanes;
    if (old === undefined) throw new Error('there is no data plane');
    expect((await proxyTo(old, 'guarded-0')).status).toBe(200);
    expect((await proxyTo(old, 'made-later')).status).toBe(404);
    await eventually(async () =>
      expect(await readiness(old)).toMatch(/^degraded: .*key k2, which GATEWAY_MASTER_KEYS lacks/),
    );
  });

  it(
    'a data plane without the old key refuses only what needs it, and reports it everywhere',
    async () => {
      const [, controlPlane] = started;
      const lacking = await gateway.stack.startDataPlane(withKeys(newKey));
      started.push(lacking);
      if (controlPlane === undefined) throw new Error('no control plane was started');
      expect((await proxyTo(lacking, 'open')).status).toBe(200);
      expect((await proxyTo(lacking, 'made-later')).status).toBe(200);
      const sentBefore = gateway.upstream.seen.length;
      const refused = await proxyTo(lacking, 'guarded-0');
      expect([refused.status, refused.headers.get('x-gateway-error')]).toEqual([
        503,
        'gateway_not_ready',
      ]);
      expect(gateway.upstream.seen).toHaveLength(sentBefore);

      expect(await readiness(lacking)).toMatch(/^degraded: .*lacks the key k1/);
      expect(await sampleOf(lacking, 'gateway_unusable_credentials')).toBe(
        `gateway_unusable_credentials{key_id="k1",reason="key_missing"} ${SERVICES}`,
      );
      await eventually(async () => {
        expect(await readiness(controlPlane)).toMatch(
          new RegExp(
            `data plane \\S+ cannot decrypt .* k1 \\(key_missing, services: ${SERVICES}\\)`,
          ),
        );
      });
      expect(
        await sampleOf(controlPlane, 'gateway_control_plane_data_planes_with_unusable_credentials'),
      ).toMatch(/ 1$/);
    },
    startTimeoutMs,
  );

  it(
    '2: all credentials are re-encrypted during traffic, and each request has the right credential',
    async () => {
      const [served, controlPlane, lacking] = started;
      if (served === undefined || controlPlane === undefined || lacking === undefined) {
        throw new Error('the previous steps did not start these');
      }
      let ended = false;
      const failures: string[] = [];
      const seenBefore = gateway.upstream.seen.length;
      const callers = Array.from({ length: 4 }, async (_none, caller) => {
        for (let call = 0; !ended && call < 5000; call += 1) {
          const at = (call * 4 + caller) % SERVICES;
          const { status } = await proxyTo(served, `guarded-${at}`);
          if (status !== 200) failures.push(`guarded-${at}: ${status}`);
        }
      });
      const env = {
        DATABASE_URL: gateway.stack.databaseUrl,
        GATEWAY_MASTER_KEYS: `${newKey},${gateway.stack.masterKeys}`,
      };
      // Two runs at once may slow each other down, but do no harm.
      const done = await Promise.all([reencrypt(env), reencrypt(env)]);
      const counts = done.map(({ code, output }) => {
        expect({ code, output }).toEqual({
          code: 0,
          output: expect.stringContaining(
            `; under the key k2: ${SERVICES + 1}; ` +
              'under others: 0, of which cannot be decrypted: 0\n' +
              'client keys re-encrypted: 0; under others: 0\n',
          ),
        });
        return Number(/^re-encrypted: (\d+);/.exec(output)?.[1]);
      });
      expect(counts.reduce((sum, count) => sum + count)).toBe(SERVICES);
      // The data plane that has only the new key can now use every credential.
      for (let at = 0; at < SERVICES; at += 1) {
        await eventually(async () =>
          expect((await proxyTo(lacking, `guarded-${at}`)).status).toBe(200),
        );
      }
      ended = true;
      await Promise.all(callers);
      expect(failures).toEqual([]);
      const seen = gateway.upstream.seen.slice(seenBefore);
      expect(seen.length).toBeGreaterThan(SERVICES * 2);
      const allowed = new Set(tokens.map((token) => `Bearer ${token}`));
      for (const { headers } of seen) {
        expect([headers.authorization, allowed.has(headers.authorization ?? '')]).toEqual([
          headers.authorization,
          true,
        ]);
      }
      await eventually(async () => expect(await readiness(lacking)).not.toContain('k1'));
      await eventually(async () => expect(await readiness(controlPlane)).not.toContain('k1'));
    },
    startTimeoutMs,
  );

  it('3: without the old key, restarted processes can decrypt all credentials', async () => {
    const restarted = await gateway.stack.startDataPlane(withKeys(newKey));
    for (const [at, token] of tokens.entries()) {
      expect((await proxyTo(restarted, `guarded-${at}`)).status).toBe(200);
      expect(gateway.upstream.seen.at(-1)?.headers.authorization).toBe(`Bearer ${token}`);
    }
    const again = await reencrypt({
      DATABASE_URL: gateway.stack.databaseUrl,
      GATEWAY_MASTER_KEYS: newKey,
    });
    expect(again.code).toBe(0);
    expect(again.output).toMatch(/^re-encrypted: 0; /);
  });
});
