import {
  access,
  chmod,
  constants,
  mkdir,
  mkdtemp,
  readdir,
  rm,
  statfs,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isRunning } from '@gateway/local-stack/process/foreign-process';

const prefix = 'gateway-test-';
const GIB = 1024 ** 3;
/** A file system in memory, if the machine has it. */
const memoryFolder = '/dev/shm';
const tmpfsMagic = 0x01021994;
/** Free space of the file system: databases, their WAL, streams and spools of a run take less. */
const neededBytes = 2 * GIB;
/** Available memory: for these files, the workers of jest and the processes that they start. */
const neededMemoryBytes = 6 * GIB;

/**
 * Creates a folder for the data of this run. Its name contains the pid of this process, so that a later run can remove the folders of
 * runs that were killed.
 */
export async function makeRunFolder(): Promise<string> {
  const parent = await parentFolder();
  for (const one of new Set([tmpdir(), parent])) await removeAbandoned(one);
  const folder = await mkdtemp(path.join(parent, `${prefix}${process.pid}-`));
  // Postgres may run under another account, which must be able to enter.
  await chmod(folder, 0o711);
  // Temporary files of tests that were killed are removed with the run.
  const temporary = path.join(folder, 'tmp');
  await mkdir(temporary);
  await chmod(temporary, 0o1777);
  process.env['TMPDIR'] = temporary;
  return folder;
}

/**
 * The folder in memory if it has room, else the temporary folder, which `TMPDIR` sets. On a disk, creating and dropping the
 * database of a test takes six times as much CPU time, most of it in the file system.
 */
async function parentFolder(): Promise<string> {
  const isSet = process.env['TMPDIR'] !== undefined;
  return !isSet && (await isUsable(memoryFolder)) ? memoryFolder : tmpdir();
}

async function isUsable(folder: string): Promise<boolean> {
  if (process.availableMemory() < neededMemoryBytes) return false;
  try {
    const { type, bavail, bsize } = await statfs(folder);
    return type === tmpfsMagic && bavail * bsize >= neededBytes && (await runsPrograms(folder));
  } catch {
    return false;
  }
}

/** False if the file system is mounted `noexec`. A downloaded nats-server is unpacked in the run folder. */
async function runsPrograms(folder: string): Promise<boolean> {
  const probe = await mkdtemp(path.join(folder, `${prefix}${process.pid}-`));
  try {
    const file = path.join(probe, 'program');
    await writeFile(file, '', { mode: 0o700 });
    await access(file, constants.X_OK);
    return true;
  } finally {
    await rm(probe, { recursive: true });
  }
}

async function removeAbandoned(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const pid = Number(/^gateway-test-(\d+)-/.exec(name)?.[1] ?? process.pid);
    if (pid === process.pid || isRunning(pid)) continue;
    await rm(path.join(parent, name), { recursive: true, force: true });
  }
}
