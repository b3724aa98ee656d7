import { chmod, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder } from '@gateway/shared/files/make-folder';
import { errorCode, errorMessage, StartError } from '../process/errors.ts';
import { isRunning, startedAt } from '../process/foreign-process.ts';

/** The data folder of one stack. Only one stack at a time may use it. */
export interface DataFolder {
  /** Absolute, links resolved. */
  readonly path: string;
  /** Allows another stack to use the folder. */
  release(): Promise<void>;
}

/** Holds `<pid> <start time>` of the stack that uses the folder. A pid alone may meanwhile belong to another process. */
const ownerName = 'stack.pid';

async function ownerOf(file: string): Promise<number | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  const [pidText = '', ...since] = text.trim().split(' ');
  const pid = Number(pidText);
  if (!Number.isSafeInteger(pid) || pid <= 1 || !isRunning(pid)) return undefined;
  return (await startedAt(pid)) === since.join(' ') ? pid : undefined;
}

/** Written with `wx`, so that only one of two stacks that start at the same time succeeds. */
async function claim(folder: string): Promise<void> {
  const file = path.join(folder, ownerName);
  const owner = await ownerOf(file);
  if (owner !== undefined) {
    throw new StartError(`a stack is already running on ${folder} (pid ${owner}); stop it first`);
  }
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
 * Postgres may run under one; files with secrets have a mode of their own.
 *
 * @throws {StartError} if it is not a folder, is not writable, or another stack uses it
 */
export async function openDataFolder(folder: string): Promise<DataFolder> {
  try {
    await makeFolder(folder);
    await chmod(folder, 0o711);
    const resolved = await realpath(folder);
    await claim(resolved);
    const owner = path.join(resolved, ownerName);
    return { path: resolved, release: () => rm(owner, { force: true }) };
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
