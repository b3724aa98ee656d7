import { once } from 'node:events';
import { ConfigError } from '@gateway/shared/config/environment';
import { buildConsole, buildDocs } from '@gateway/tools/build/build-pages';
import { StartError } from '@gateway/tools/process/errors';
import { banner } from './stack/banner.ts';
import { parseStackConfig } from './stack/config.ts';
import { openDataFolder } from './stack/data-folder.ts';
import { stopLeftovers } from './stack/leftovers.ts';
import { checkPorts } from './stack/ports.ts';
import { loadSecrets } from './stack/secrets.ts';
import { startStack } from './stack/start-stack.ts';
import { createSupervisor } from './stack/supervisor.ts';

/** Longer than the requests that a stopping data plane lets end (DRAIN_TIMEOUT_MS). */
const STOP_WAIT_MS = 60_000;

function log(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Runs the stack until the signal aborts. Everything that was started is stopped, also after an error. */
async function run(signal: AbortSignal): Promise<void> {
  const given = parseStackConfig(process.env, process.cwd());
  const folder = await openDataFolder(given.dataDir, { log, waitMs: STOP_WAIT_MS });
  try {
    const config = { ...given, dataDir: folder.path };
    await stopLeftovers(config.dataDir, log);
    await checkPorts(config);
    const secrets = await loadSecrets(config.dataDir, config);
    const supervisor = createSupervisor(config.dataDir, log);
    try {
      log(banner(await startStack(config, secrets, { supervisor, log, signal })));
      // Last, because nothing else waits for them. The control plane serves a new build without a restart.
      await buildConsole({ log, signal });
      await buildDocs({ log, signal });
      if (!signal.aborted) await once(signal, 'abort');
    } finally {
      await folder.announceStop();
      await supervisor.stop();
    }
  } finally {
    await folder.release();
  }
}

async function main(): Promise<void> {
  const stop = new AbortController();
  // Ctrl-C may arrive twice, from the terminal and from npm. The second one has no effect.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => stop.abort());
  }
  // If the terminal is closed, stop all processes too.
  process.stdout.on('error', () => stop.abort());
  try {
    await run(stop.signal);
  } catch (error) {
    const isLine = error instanceof StartError || error instanceof ConfigError;
    if (!isLine && error !== stop.signal.reason) throw error;
    if (!stop.signal.aborted) {
      process.stderr.write(`gateway: ${(error as Error).message}\n`);
      process.exit(1);
    }
  }
  log('Stopped.');
  process.exit(0);
}

await main();
