import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync } from 'node:fs';
import { realpath } from 'node:fs/promises';

/** A folder that no other process can lock. */
export interface FolderLock {
  /** The lock lasts until this process, and each child process that inherits this descriptor, has ended or closed it. */
  readonly fd: number;
  release(): void;
}

/** Another process has locked the folder. */
export class FolderInUseError extends Error {
  /** The path of the folder, absolute, links resolved. */
  readonly folder: string;

  constructor(folder: string) {
    super(`the folder ${folder} is in use by another process`);
    this.name = 'FolderInUseError';
    this.folder = folder;
  }
}

/** Exit code of flock(1) if another process has the lock. */
const LOCKED = 1;

/**
 * Locks a folder with flock(2), so that no file is left behind and a crash ends the lock. Node has no flock. The program
 * flock(1) of util-linux or BusyBox locks the inherited descriptor, and the lock stays with the descriptor of this process.
 *
 * @throws {FolderInUseError} if another process has locked it
 * @throws another error if it cannot be locked, such as if flock(1) is not installed
 */
export async function lockFolder(folder: string): Promise<FolderLock> {
  const resolved = await realpath(folder);
  const fd = openSync(resolved, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await lock(fd, resolved);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  return { fd, release: () => closeSync(fd) };
}

async function lock(fd: number, folder: string): Promise<void> {
  const child = spawn('flock', ['-n', '3'], { stdio: ['ignore', 'ignore', 'ignore', fd] });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code === LOCKED) throw new FolderInUseError(folder);
  if (code !== 0) throw new Error(`flock of ${folder} failed with exit code ${code}`);
}
