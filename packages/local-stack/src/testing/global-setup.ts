import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startNats } from '../nats.ts';
import { startPostgres } from '../postgres.ts';

/** Where the teardown, loaded as a module of its own, finds how to stop what the setup started. */
export const stopTestServers = Symbol.for('gateway.stop-test-servers');

/** A test's data need not outlive a power cut. */
const noDurability = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

function log(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Stops the servers when the run is broken off, before the signal takes its usual course. */
function stopOnSignals(stop: () => Promise<void>): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      void stop().finally(() => process.kill(process.pid, signal));
    });
  }
}

/**
 * One real Postgres and one real NATS for a whole jest run, on free ports and in a folder that goes
 * with the run. Their addresses are TEST_DATABASE_URL (a superuser on the maintenance database) and
 * TEST_NATS_URL. A run that is killed outright leaves them to their guards (process/guard.ts).
 */
export default async function globalSetup(): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'gateway-test-'));
  // Postgres may run under another account and has to pass through.
  await chmod(folder, 0o711);
  const started = await Promise.allSettled([
    startPostgres({ dataDir: path.join(folder, 'postgres'), settings: noDurability, log }),
    startNats({ dataDir: path.join(folder, 'nats'), log }),
  ]);
  const stop = async (): Promise<void> => {
    const running = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    await Promise.all(running.map((server) => server.stop()));
    await rm(folder, { recursive: true, force: true });
  };
  const [postgres, nats] = started;
  if (postgres.status === 'rejected' || nats.status === 'rejected') {
    await stop();
    throw new AggregateError(
      started.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : [])),
      'the test servers did not start',
    );
  }
  stopOnSignals(stop);
  Reflect.set(globalThis, stopTestServers, stop);
  process.env['TEST_DATABASE_URL'] = postgres.value.url;
  process.env['TEST_NATS_URL'] = nats.value.url;
}
