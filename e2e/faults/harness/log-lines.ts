import { readFile } from 'node:fs/promises';
import { eventually } from '@gateway/shared/test/eventually';

/** A process need not write a line at once. */
const WRITTEN = { deadlineMs: 10_000, intervalMs: 50 };

/** Whether one of the lines that a process logs from its start, up to soon, holds all of the texts. */
export async function hasLogged(
  plane: { readonly logFile: string } | undefined,
  ...texts: readonly string[]
): Promise<boolean> {
  const look = async () => {
    const lines = plane === undefined ? [] : (await readFile(plane.logFile, 'utf8')).split('\n');
    if (lines.some((line) => texts.every((text) => line.includes(text)))) return true;
    throw new Error('there is no such line');
  };
  return eventually(look, WRITTEN).catch(() => false);
}
