import { alterDatabase } from '@gateway/testing/alter-database';
import { eventually } from '@gateway/shared/test/eventually';
import { afterEach, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../harness/gateway.ts';

const testTimeoutMs = 90_000;

/** The procedure "Restore Postgres" in docs/run/backup.md. */
describe('a database restored from a backup', () => {
  let gateway: Gateway | undefined;
  let backup = '';
  afterEach(async () => {
    const url = gateway?.stack.databaseUrl;
    await gateway?.close();
    if (url !== undefined && backup !== '') {
      await alterDatabase(maintenance(url), `DROP DATABASE IF EXISTS ${backup} WITH (FORCE)`, []);
    }
  });

  function maintenance(url: string, name = 'postgres'): string {
    const other = new URL(url);
    other.pathname = `/${name}`;
    return other.href;
  }

  const reachable = async (name: string): Promise<number> => {
    const answer = await gateway?.admin.proxy(name, { method: 'GET' });
    return answer?.status ?? 0;
  };

  it.each(['kept', 'gone'] as const)(
    'is what data planes serve, even after newer versions, with the data of NATS %s',
    async (natsData) => {
      gateway = await startGateway();
      const { stack, controlPlane } = gateway;
      const port = Number(new URL(controlPlane.baseUrl).port);
      await gateway.route({ name: 'orders' });
      await gateway.settled();

      await controlPlane.stop();
      const { databaseUrl } = stack;
      const source = new URL(databaseUrl).pathname.slice(1);
      backup = `${source}_backup`;
      await alterDatabase(
        maintenance(databaseUrl),
        `CREATE DATABASE ${backup} TEMPLATE ${source}`,
        [],
      );
      const later = await stack.startControlPlane({ port });
      for (const name of ['later-1', 'later-2', 'later-3']) {
        await gateway.route({ name });
        await gateway.settled();
      }
      expect(await reachable('later-3')).toBe(200);
      await later.stop();

      const restored = maintenance(databaseUrl, backup);
      if (natsData === 'gone') {
        await stack.nats.stop();
        await stack.restartNats('gone');
      }
      await stack.startControlPlane({ port, env: { DATABASE_URL: restored } });
      await eventually(async () => expect(await reachable('later-3')).toBe(404), {
        deadlineMs: 40_000,
      });
      expect(await reachable('orders')).toBe(200);
      await gateway.route({ name: 'after' });
      await gateway.settled();
      expect(await reachable('after')).toBe(200);
    },
    testTimeoutMs,
  );
});
