import { randomUUID } from 'node:crypto';
import { copyFile, mkdir, rename } from 'node:fs/promises';
import path from 'node:path';
import { OLDEST_NATS_SERVER, refuseServerVersion } from '@gateway/shared/messaging/server-version';
import { cachedProgram } from '@gateway/tools/cache-path.mjs';
import { downloadNatsServer, NEWEST } from '@gateway/tools/debian/nats-server.mjs';
import type { Steps } from '@gateway/tools/debian/packages.mjs';
import { errorMessage, StartError } from '@gateway/tools/process/errors';
import { findOnPath, isExecutable } from '../process/find-on-path.ts';
import { runCommand } from '@gateway/tools/process/run-command';

const HINT = `install nats-server ${OLDEST_NATS_SERVER} or newer on the PATH (macOS: brew install nats-server), or set NATS_URL`;
/**
 * Where the package comes from: the first suite of Debian whose package runs here, else, as on Ubuntu, the release of this
 * system.
 */
const SUITES = [NEWEST, 'stable', undefined] as const;

/** Copies a binary into the cache. If that fails, other checkouts download it again. */
async function cacheBinary(binary: string, log: (line: string) => void): Promise<void> {
  const target = cachedProgram('nats-server');
  const draft = `${target}.${randomUUID()}`;
  try {
    await mkdir(path.dirname(target), { recursive: true });
    await copyFile(binary, draft);
    await rename(draft, target);
  } catch (error) {
    const reason = errorMessage(error);
    log(`nats-server not cached for other checkouts: ${reason}`);
  }
}

/**
 * The path of nats-server: the one on the PATH, else an earlier download, else Debian's newest package, whose signature
 * apt verifies, unpacked in `dataDir` without root. A version that the gateway refuses is passed over.
 *
 * @throws {StartError} that says how to install it
 */
export async function natsBinary(dataDir: string, steps: Steps): Promise<string> {
  const onPath = await findOnPath('nats-server');
  if (onPath !== undefined) {
    const refusal = await refuseBinary(onPath);
    if (refusal === undefined) return onPath;
    steps.log(`Not using ${onPath}: ${refusal}`);
  }
  const folder = path.join(dataDir, 'package');
  const unpacked = path.join(folder, 'usr', 'sbin', 'nats-server');
  for (const file of [unpacked, cachedProgram('nats-server')]) {
    if ((await isExecutable(file)) && (await refuseBinary(file)) === undefined) return file;
  }
  const suite = await download(folder, steps);
  // Another checkout tries the newest one again.
  if (suite === NEWEST) await cacheBinary(unpacked, steps.log);
  return unpacked;
}

/** Why a binary is not used; undefined if it is a supported nats-server that runs on this system. */
async function refuseBinary(file: string): Promise<string | undefined> {
  const { code, output } = await runCommand(file, ['--version'], { timeoutMs: 10_000 });
  const version = /^nats-server: v?(\S+)/m.exec(output)?.[1];
  if (code !== 0 || version === undefined) return `it does not run here (${output.trim()})`;
  return refuseServerVersion(version);
}

/** @returns the suite that it came from; undefined: the release of this system */
async function download(folder: string, steps: Steps): Promise<(typeof SUITES)[number]> {
  steps.log('Downloading nats-server ...');
  let reason = '';
  for (const suite of SUITES) {
    try {
      const program = await downloadNatsServer(folder, suite, HINT, steps);
      const refusal = (await isExecutable(program))
        ? await refuseBinary(program)
        : 'the package has no program';
      if (refusal === undefined) return suite;
      reason = `nats-server of Debian ${suite ?? 'of this system'}: ${refusal}; ${HINT}`;
    } catch (error) {
      reason = errorMessage(error);
    }
    steps.log(reason);
    steps.signal?.throwIfAborted();
  }
  throw new StartError(reason);
}
