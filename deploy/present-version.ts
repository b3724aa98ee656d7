import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';

const manifest = z.object({ version: z.string() });
const VERSION = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/;

/** The version of the product in this working copy. */
export async function presentVersion(root: string): Promise<string> {
  const text = await readFile(path.join(root, 'package.json'), 'utf8');
  return manifest.parse(JSON.parse(text)).version;
}

/** Whether a text is a version, of three numbers, and later than the other one. */
export function isLater(version: string, other: string): boolean {
  const [ours, theirs] = [numbersOf(version), numbersOf(other)];
  if (ours === undefined || theirs === undefined) return false;
  const differs = ours.findIndex((number, index) => number !== theirs[index]);
  return differs !== -1 && (ours[differs] ?? 0) > (theirs[differs] ?? 0);
}

function numbersOf(version: string): readonly number[] | undefined {
  return VERSION.exec(version)?.slice(1).map(Number);
}
