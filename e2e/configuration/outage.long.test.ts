import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startPostgres } from '@gateway/local-stack/postgres/start-postgres';
import { eventually } from '@gateway/shared/test/eventually';
import { UndoList } from '@gateway/shared/test/undo-list';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createClient } from '../harness/client.ts';
import { startGateway, type Gateway } from '../harness/gateway.ts';
import { SHORT_QUOTA, shareQuotas } from '../harness/quota-shares.ts';

const testTimeoutMs = 90_000;

describe('the configuration during an outage', () => {
  const undo = new UndoList();
  afterEach(async () => {
    await undo.run();
  });

  async function start(env: NodeJS.ProcessEnv = {}): Promise<Gateway> {
    const gateway = await startGateway({ env });
    undo.add(() => gateway.close());
    await gateway.route({ name: 'orders', rate_limit: SHORT_QUOTA });
    await gateway.route({ name: 'drafts', environment: 'development' });
    await gateway.settled();
    await gateway.settled('development');
    await shareQuotas(gateway.dataPlanes);
    return gateway;
  }

  it(
    'reaches a data plane that starts while every control plane is stopped',
    async () => {
      const gateway = await start();
      await gateway.controlPlane.stop();
      const late = await gateway.stack.startDataPlane({ name: 'late' });
      const client = createClient(late.baseUrl, gateway.admin.token);
      const headers = { 'x-gateway-environment': 'development' };
      for (const answer of [
        await client.proxy('orders'),
        await client.proxy('drafts', { headers }),
      ]) {
        expect([answer.status, answer.headers.get('x-upstream')]).toEqual([200, 'yes']);
      }
      const managed = await client.get('/v1/services');
      expect([managed.status, managed.headers.get('x-gateway-error')]).toEqual([
        502,
        'upstream_unavailable',
      ]);
    },
    testTimeoutMs,
  );

  it(
    'is served from the last-good file after a restart while NATS, Postgres and the control plane are stopped',
    async () => {
      const folder = await mkdtemp(path.join(tmpdir(), 'gateway-e2e-postgres-'));
      undo.add(() => rm(folder, { recursive: true, force: true }));
      await chmod(folder, 0o711);
      const dataDir = path.join(folder, 'postgres');
      const postgres = await startPostgres({ dataDir, log: () => undefined });
      undo.add(() => postgres.stop());
      const gateway = await start({ DATABASE_URL: postgres.url });
      const name = 'restarted';
      const before = await gateway.stack.startDataPlane({ name });
      await shareQuotas([...gateway.dataPlanes, before]);

      await gateway.controlPlane.stop();
      await gateway.stack.nats.stop();
      await postgres.stop();
      const running = createClient(before.baseUrl, gateway.admin.token);
      expect((await running.proxy('orders')).status).toBe(200);
      expect(await before.stop()).toEqual({ code: 0, signal: null });

      const after = await gateway.stack.startDataPlane({ name });
      const client = createClient(after.baseUrl, gateway.admin.token);
      const answer = await client.proxy('orders');
      expect([answer.status, answer.headers.get('x-upstream')]).toEqual([200, 'yes']);
      expect((await client.proxy('orders', { token: null })).status).toBe(401);
      expect((await client.proxy('unknown')).status).toBe(404);
      const ready = await fetch(`${after.adminUrl}/readyz`);
      expect([ready.status, await ready.json()]).toEqual([
        200,
        { status: 'degraded', reasons: [expect.stringContaining('NATS')] },
      ]);
    },
    testTimeoutMs,
  );

  it(
    'includes a change that was made while NATS was down, when NATS is back',
    async () => {
      const gateway = await start();
      await gateway.stack.nats.stop();
      const made = await gateway.route({ name: 'made-meanwhile' });
      expect(made.id).toMatch(/^rte_/);
      expect((await gateway.admin.proxy('orders')).status).toBe(200);
      expect((await gateway.admin.proxy('made-meanwhile')).status).toBe(404);
      await gateway.stack.restartNats();
      await eventually(
        async () => expect((await gateway.admin.proxy('made-meanwhile')).status).toBe(200),
        { deadlineMs: 30_000 },
      );
    },
    testTimeoutMs,
  );
});
