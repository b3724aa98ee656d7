import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { chmod, copyFile, mkdir, open, rename, stat, truncate } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { errorCode } from './error-code.ts';

/** A child's log is cut when it has grown past this; the cut part is kept once beside it. */
export const maxLogBytes = 16 * 1024 * 1024;

const tailBytes = 64 * 1024;

/** What a process writes of its callers and its addresses is for its operator alone. */
const logMode = 0o600;

/**
 * Opens a log for appending. Makes its folder, and moves the log of the run before to `<file>.1`;
 * neither can be read by others, whatever mode the old one had.
 */
export async function openLog(file: string): Promise<FileHandle> {
  await mkdir(path.dirname(file), { recursive: true });
  try {
    await chmod(file, logMode);
    await rename(file, `${file}.1`);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
  return open(file, 'a', logMode);
}

/**
 * Bounds a log that a child is writing. The child holds the file open for appending, so the file is
 * copied and emptied in place; a line written between the two is lost.
 */
export async function boundLog(file: string): Promise<void> {
  try {
    if ((await stat(file)).size <= maxLogBytes) return;
    await copyFile(file, `${file}.1`);
    await truncate(file, 0);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

/** The last lines of a log, at most `count` and at most 64 KiB; none when there is no file. */
export function tailLog(file: string, count: number): string[] {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'r');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
  try {
    const chunk = Buffer.alloc(tailBytes);
    const { size } = fstatSync(descriptor);
    const length = readSync(descriptor, chunk, 0, tailBytes, Math.max(0, size - tailBytes));
    const lines = chunk.toString('utf8', 0, length).split('\n');
    return lines.filter((line) => line !== '').slice(-count);
  } finally {
    closeSync(descriptor);
  }
}
