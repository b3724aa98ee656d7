import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { chmod, copyFile, mkdir, open, rename, stat, truncate } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { errorCode } from '@gateway/tools/process/errors';

/** A log that grows larger than this is moved to `<file>.1` and starts again. */
export const maxLogBytes = 16 * 1024 * 1024;

const tailBytes = 64 * 1024;

/** Logs contain addresses of callers, so only the owner may read them. */
const logMode = 0o600;

/**
 * Opens a log for appending. Creates its folder and moves the log of the previous run to `<file>.1`. Both are readable by
 * their owner only, whatever mode the old one had.
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
 * Truncates the log of a running process if it is too large. The process has the file open for appending, so it is copied and
 * emptied in place; a line that is written between the two is lost.
 */
export async function truncateLog(file: string): Promise<void> {
  try {
    if ((await stat(file)).size <= maxLogBytes) return;
    await copyFile(file, `${file}.1`);
    await truncate(file, 0);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

/** The last lines of a log, at most `count` and at most 64 KiB; none if the file does not exist. */
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
