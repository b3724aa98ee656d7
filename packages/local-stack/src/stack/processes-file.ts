import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { errorCode } from '@gateway/tools/process/errors';

/** One entry of processes.json, which names the running processes for operators and tests. */
export interface ProcessEntry {
  readonly name: string;
  readonly pid: number;
  /** On 127.0.0.1. */
  readonly ports: readonly number[];
}

function isEntry(value: unknown): value is ProcessEntry {
  if (typeof value !== 'object' || value === null) return false;
  const { name, pid, ports } = value as Partial<Record<string, unknown>>;
  return typeof name === 'string' && Number.isSafeInteger(pid) && Array.isArray(ports);
}

/** The entries of the file. Malformed entries are left out; a file that is not JSON counts as empty. */
export async function readProcesses(dataDir: string): Promise<ProcessEntry[]> {
  let text: string;
  try {
    text = await readFile(path.join(dataDir, 'processes.json'), 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.filter(isEntry) : [];
  } catch {
    // The file was edited. The processes are still found by their pid files and ports.
    return [];
  }
}

/** Replaces the file in one step, so that a reader never sees an incomplete one. */
export async function writeProcesses(
  dataDir: string,
  entries: readonly ProcessEntry[],
): Promise<void> {
  const file = path.join(dataDir, 'processes.json');
  await writeFile(`${file}.new`, `${JSON.stringify(entries, null, 2)}\n`);
  await rename(`${file}.new`, file);
}
