import { chmod, chown, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ensureDatabase } from '@gateway/local-stack/postgres/ensure-database';
import { startPostgres } from '@gateway/local-stack/postgres/start-postgres';
import { unprivilegedAccount } from '@gateway/local-stack/process/unprivileged';
import { copyCluster } from '@gateway/testing/postgres-copy';
import { queryDatabase } from '@gateway/testing/query-database';
import { eventually } from '@gateway/shared/test/eventually';
import { UndoList } from '@gateway/shared/test/undo-list';
import { afterEach, describe, expect, it } from '@jest/globals';
import { startGateway } from '../harness/gateway.ts';

const testTimeoutMs = 120_000;
const DATABASE = 'gateway';

/** The procedure "Restore to a point in time" in docs/run/backup.md. */
describe('Postgres restored to a point in time', () => {
  const undo = new UndoList();
  afterEach(async () => {
    await undo.run();
  });

  /** A folder that Postgres can write to. */
  async function ownedFolder(folder: string): Promise<string> {
    await mkdir(folder, { mode: 0o700 });
    const account = await unprivilegedAccount();
    if (account !== undefined) await chown(folder, account.uid, account.gid);
    return folder;
  }

  it(
    'has the configuration of that time, which data planes with a newer version receive under a higher one',
    async () => {
      const folder = await mkdtemp(path.join(tmpdir(), 'gateway-restore-'));
      undo.add(() => rm(folder, { recursive: true, force: true }));
      await chmod(folder, 0o711);
      const archive = await ownedFolder(path.join(folder, 'archive'));
      const log = () => undefined;
      const dataDir = path.join(folder, 'postgres');
      const postgres = await startPostgres({
        dataDir,
        log,
        settings: { archive_mode: 'on', archive_command: `cp %p ${archive}/%f` },
      });
      undo.add(() => postgres.stop());
      const url = await ensureDatabase(postgres.url, DATABASE);
      const gateway = await startGateway({ env: { DATABASE_URL: url } });
      undo.add(() => gateway.close());
      const { stack, controlPlane, admin } = gateway;
      const statusOf = async (route: string) =>
        (await admin.proxy(route, { method: 'GET' })).status;
      const servedVersion = async () => {
        const [plane] = (await admin.get('/v1/data-planes')).page().data;
        const served = plane?.['environments'] as { environment: string; version: number }[];
        return served.find(({ environment }) => environment === 'production')?.version ?? NaN;
      };

      const changed = await gateway.route({ name: 'changed-later' });
      await gateway.settled();
      const backup = path.join(folder, 'backup');
      await copyCluster({ url: postgres.url, from: dataDir, to: backup, signal: 'recovery' });

      await gateway.route({ name: 'after-the-backup' });
      await gateway.settled();
      const [time] = await queryDatabase(url, 'SELECT clock_timestamp()::text AS at');
      await gateway.route({ name: 'after-the-time' });
      expect((await admin.delete(`/v1/routes/${changed.id}`)).status).toBe(204);
      await gateway.settled();
      expect([await statusOf('after-the-time'), await statusOf('changed-later')]).toEqual([
        200, 404,
      ]);
      const versionBefore = await servedVersion();
      const [segment] = await queryDatabase(
        url,
        'SELECT pg_walfile_name(pg_current_wal_lsn()) AS name, pg_switch_wal()',
      );
      await eventually(async () => {
        const [archived] = await queryDatabase(
          url,
          'SELECT last_archived_wal AS name FROM pg_stat_archiver',
        );
        if (String(archived?.['name']) < String(segment?.['name'])) throw new Error('not archived');
      });
      await controlPlane.stop();
      await postgres.process.stop('SIGKILL');
      await rm(dataDir, { recursive: true });

      const restored = await startPostgres({
        dataDir: backup,
        log,
        settings: {
          restore_command: `cp ${archive}/%f %p`,
          recovery_target_time: String(time?.['at']),
          recovery_target_action: 'promote',
        },
      });
      undo.add(() => restored.stop());
      // It waits until the recovery has ended.
      await stack.startControlPlane({
        port: Number(new URL(controlPlane.baseUrl).port),
        env: { DATABASE_URL: await ensureDatabase(restored.url, DATABASE) },
      });
      await eventually(async () => expect(await statusOf('after-the-time')).toBe(404), {
        deadlineMs: 40_000,
      });
      expect([await statusOf('after-the-backup'), await statusOf('changed-later')]).toEqual([
        200, 200,
      ]);
      await eventually(async () => expect(await servedVersion()).toBeGreaterThan(versionBefore));
      await gateway.route({ name: 'after-the-restore' });
      await gateway.settled();
      expect(await statusOf('after-the-restore')).toBe(200);
    },
    testTimeoutMs,
  );
});
