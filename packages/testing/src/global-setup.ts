import { rm } from 'node:fs/promises';
import path from 'node:path';
import { startNats } from '@gateway/local-stack/nats/start-nats';
import { startPostgres } from '@gateway/local-stack/postgres/start-postgres';
import { copyNewCluster, makeNewCluster } from './new-cluster.ts';
import { POOL_VARIABLE, startGatewayPool } from './gateway-pool.ts';
import { chooseNatsServer } from './nats-release.ts';
import { makeRunFolder } from './run-folder.ts';

/** The teardown is loaded as a separate module and finds the stop function of the setup under this key. */
export const stopTestServers = Symbol.for('gateway.stop-test-servers');

/** Test data need not survive a power failure. The limit of the WAL suits a run folder in memory. */
const settings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_wal_size: '256MB',
};

function log(line: string): void {
  process.stderr.write(`${line}\n`);
}

/**
 * Stops the servers when the run is interrupted, and then raises the signal again. Ctrl-C may arrive twice, from the terminal and from
 * npm. The second one has no effect.
 */
function stopOnSignals(stop: () => Promise<void>): void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  let stopping = false;
  const handle = (signal: NodeJS.Signals): void => {
    if (stopping) return;
    stopping = true;
    void stop().finally(() => {
      for (const one of signals) process.off(one, handle);
      process.kill(process.pid, signal);
    });
  };
  for (const signal of signals) process.on(signal, handle);
}

/**
 * Starts one Postgres and one NATS for a jest run, on free ports and in a folder that is removed after the run. Their addresses
 * are TEST_DATABASE_URL (a superuser on the maintenance database) and TEST_NATS_URL. If the run is killed, their guards stop
 * them (process/guard.ts).
 */
export default async function globalSetup(): Promise<void> {
  await chooseNatsServer();
  const folder = await makeRunFolder();
  const startDatabase = async () => {
    const dataDir = path.join(folder, 'postgres');
    await makeNewCluster(path.join(folder, 'new-cluster'));
    copyNewCluster(dataDir);
    return startPostgres({ dataDir, settings, log });
  };
  const starting = Promise.allSettled([
    startDatabase(),
    startNats({ dataDir: path.join(folder, 'nats'), log }),
  ]);
  const pool = await startGatewayPool();
  const stop = async (): Promise<void> => {
    const started = await starting;
    await pool.close();
    const running = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    await Promise.all(running.map((server) => server.stop()));
    await rm(folder, { recursive: true, force: true });
  };
  stopOnSignals(stop);
  const [postgres, nats] = await starting;
  if (postgres.status === 'rejected' || nats.status === 'rejected') {
    await stop();
    const failed = [postgres, nats].filter((one) => one.status === 'rejected');
    const lines = failed.map((one) => String(one.reason));
    throw new Error(`the test servers did not start: ${lines.join('; ')}`);
  }
  Reflect.set(globalThis, stopTestServers, stop);
  process.env['TEST_DATABASE_URL'] = postgres.value.url;
  process.env['TEST_NATS_URL'] = nats.value.url;
  process.env[POOL_VARIABLE] = pool.url;
}
