import { readFile } from 'node:fs/promises';
import { eventually } from '@gateway/shared/test/eventually';

/** A process may write a line with a delay. */
const WRITTEN = { deadlineMs: 10_000, intervalMs: 50 };

/** Whether a process has logged, or soon logs, a line that contains all of the texts. */
export async function hasLogged(
  plane: { readonly logFile: string } | undefined,
  ...texts: readonly string[]
): Promise<boolean> {
  const look = async () => {
    const lines = plane === undefined ? [] : (await readFile(plane.logFile, 'utf8')).split('\n');
    if (lines.some((line) => texts.every((text) => line.includes(text)))) return true;
    throw new Error('the line is not logged');
  };
  return eventually(look, WRITTEN).catch(() => false);
}
