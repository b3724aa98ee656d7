import { appendFile, chmod, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { makeFolder } from '@gateway/shared/files/make-folder';
import { errorCode, errorMessage, StartError } from '@gateway/tools/process/errors';
import { isRunning, startedAt } from '../process/foreign-process.ts';

/** The data folder of one stack. Only one stack at a time may use it. */
export interface DataFolder {
  /** Absolute, links resolved. */
  readonly path: string;
  /** Tells the next stack that this one is stopping, so that it waits. */
  announceStop(): Promise<void>;
  /** Allows another stack to use the folder. */
  release(): Promise<void>;
}

export interface OpenOptions {
  /** Called once if the folder belongs to a stack that is stopping. */
  readonly log: (line: string) => void;
  /** How long to wait for such a stack, ms. */
  readonly waitMs: number;
}

interface Owner {
  readonly pid: number;
  readonly isStopping: boolean;
}

/**
 * Holds `<pid> <start time>` of the stack that uses the folder, and `stopping` in a second line once it stops. A pid alone
 * may meanwhile belong to another process.
 */
const ownerName = 'stack.pid';
const STOPPING = 'stopping';
const POLL_MS = 100;

async function ownerOf(file: string): Promise<Owner | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  const [owner = '', state] = text.trim().split('\n');
  const [pidText = '', ...since] = owner.split(' ');
  const pid = Number(pidText);
  if (!Number.isSafeInteger(pid) || pid <= 1 || !isRunning(pid)) return undefined;
  if ((await startedAt(pid)) !== since.join(' ')) return undefined;
  return { pid, isStopping: state === STOPPING };
}

/** Resolves when no stack uses the folder; waits only for one that is stopping. */
async function untilReleased(folder: string, { log, waitMs }: OpenOptions): Promise<void> {
  const file = path.join(folder, ownerName);
  const endMs = performance.now() + waitMs;
  let owner = await ownerOf(file);
  if (owner?.isStopping === true) {
    log(`Waiting for the stack on ${folder} (pid ${owner.pid}) to stop ...`);
  }
  while (owner?.isStopping === true && performance.now() < endMs) {
    await delay(POLL_MS);
    owner = await ownerOf(file);
  }
  if (owner === undefined) return;
  throw new StartError(
    owner.isStopping
      ? `the stack on ${folder} (pid ${owner.pid}) is still stopping; start again when it has stopped, or kill it`
      : `a stack is already running on ${folder} (pid ${owner.pid}); stop it first`,
  );
}

/** Written with `wx`, so that only one of two stacks that start at the same time succeeds. */
async function claim(folder: string): Promise<void> {
  const file = path.join(folder, ownerName);
  await rm(file, { force: true });
  try {
    await writeFile(file, `${process.pid} ${await startedAt(process.pid)}\n`, { flag: 'wx' });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    throw new StartError(`another stack is starting on ${folder}`, { cause: error });
  }
}

/**
 * Creates the data folder if it does not exist, and claims it for this process. Other accounts may pass through it, because
 * Postgres may run under one; files with secrets have a mode of their own. Waits for a stack that is stopping.
 *
 * @throws {StartError} if it is not a folder, is not writable, or another stack uses it
 */
export async function openDataFolder(folder: string, options: OpenOptions): Promise<DataFolder> {
  try {
    await makeFolder(folder);
    await chmod(folder, 0o711);
    const resolved = await realpath(folder);
    await untilReleased(resolved, options);
    await claim(resolved);
    const owner = path.join(resolved, ownerName);
    return {
      path: resolved,
      announceStop: () => appendFile(owner, `${STOPPING}\n`),
      release: () => rm(owner, { force: true }),
    };
  } catch (error) {
    if (error instanceof StartError) throw error;
    const reason =
      errorCode(error) === 'EEXIST' || errorCode(error) === 'ENOTDIR'
        ? 'it or a parent folder is a file'
        : errorMessage(error);
    throw new StartError(
      `the data folder ${folder} cannot be used: ${reason}; set GATEWAY_DATA_DIR to another folder`,
      { cause: error },
    );
  }
}
