import { chmod, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder } from '@gateway/shared/files/make-folder';
import { errorCode, errorMessage } from '../process/error-code.ts';
import { isRunning, startedAt } from '../process/foreign-process.ts';
import { StartError } from '../process/start-error.ts';

/** The folder of one stack; only one stack at a time runs on it. */
export interface DataFolder {
  /** Absolute, links resolved. */
  readonly path: string;
  /** Lets the next stack have it. */
  release(): Promise<void>;
}

/** `<pid> <start time>` of the stack that runs on the folder: a pid alone may be another's by now. */
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

/** Written with `wx`, so that of two stacks that start together one finds the other's. */
async function claim(folder: string): Promise<void> {
  const file = path.join(folder, ownerName);
  const owner = await ownerOf(file);
  if (owner !== undefined) {
    throw new StartError(`a stack already runs on ${folder} (pid ${owner}); stop it first`);
  }
  await rm(file, { force: true });
  try {
    await writeFile(file, `${process.pid} ${await startedAt(process.pid)}\n`, { flag: 'wx' });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    throw new StartError(`another stack starts on ${folder} at this moment`, { cause: error });
  }
}

/**
 * Makes the data folder, or finds it again, and claims it for this process. Others may pass
 * through it, since Postgres may run under another account; what is secret in it is closed by its
 * own mode.
 *
 * @throws {StartError} when it is no folder, cannot be written, or another stack runs on it
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
        ? 'there is a file in its place'
        : errorMessage(error);
    throw new StartError(
      `the data folder ${folder} cannot be used: ${reason}; set GATEWAY_DATA_DIR to another`,
      { cause: error },
    );
  }
}
