import { isUtf8 } from 'node:buffer';
import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import path from 'node:path';
import { UsageError } from '../program/exit-codes.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** A text with services and routes, and how messages name it. */
export interface Source {
  readonly name: string;
  readonly text: string;
}

/** The API takes no larger document. A larger file is refused before it is read. */
export const MAX_MANIFEST_BYTES = 16 * 1024 * 1024;

/** The files of a directory that are read. Hidden ones belong to editors and tools. */
const MANIFEST_FILE = /^[^.].*\.(yaml|yml|json)$/;

/**
 * Reads files, the YAML and JSON files of directories in the order of their names, and stdin for `-`.
 * @throws UsageError if one cannot be read, or if they are too large together
 */
export async function readSources(
  given: readonly string[],
  terminal: Terminal,
): Promise<readonly Source[]> {
  const sources: Source[] = [];
  let leftBytes = MAX_MANIFEST_BYTES;
  for (const file of given.flatMap(filesOf)) {
    const isStdin = file === '-';
    if (isStdin && sources.some(({ name }) => name === STDIN)) {
      throw new UsageError('-f - is given twice, but stdin can be read once');
    }
    const text = isStdin ? await terminal.readInput(leftBytes) : readText(file, leftBytes);
    leftBytes -= Buffer.byteLength(text);
    sources.push({ name: isStdin ? STDIN : file, text });
  }
  return sources;
}

const STDIN = 'stdin';

function filesOf(given: string): readonly string[] {
  if (given === '-') return [given];
  const stats = readable(given, () => statSync(given));
  if (!stats.isDirectory()) return [given];
  const names = readable(given, () => readdirSync(given)).filter((name) =>
    MANIFEST_FILE.test(name),
  );
  if (names.length === 0) {
    throw new UsageError(`${given} has no files named *.yaml, *.yml or *.json`);
  }
  return names.sort().map((name) => path.join(given, name));
}

function readText(file: string, leftBytes: number): string {
  const stats = readable(file, () => statSync(file));
  if (stats.isDirectory()) throw new UsageError(`${file} is a directory within a directory`);
  if (stats.size > leftBytes) throw tooLarge(file);
  const bytes = readable(file, () => readAtMost(file, leftBytes + 1));
  if (bytes.length > leftBytes) throw tooLarge(file);
  if (!isUtf8(bytes)) throw new UsageError(`${file} is not text in UTF-8`);
  return bytes.toString('utf8');
}

const CHUNK_BYTES = 1024 * 1024;

/** A named pipe or a device has no size before it is read, and may have no end. */
function readAtMost(file: string, maxBytes: number): Buffer {
  const descriptor = openSync(file, 'r');
  try {
    const chunks: Buffer[] = [];
    for (let leftBytes = maxBytes; leftBytes > 0;) {
      const chunk = Buffer.alloc(Math.min(leftBytes, CHUNK_BYTES));
      const readBytes = readSync(descriptor, chunk);
      if (readBytes === 0) break;
      chunks.push(chunk.subarray(0, readBytes));
      leftBytes -= readBytes;
    }
    return Buffer.concat(chunks);
  } finally {
    closeSync(descriptor);
  }
}

function tooLarge(file: string): UsageError {
  return new UsageError(`${file}: the files have more than 16 MiB together`);
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or directory',
  ENOTDIR: 'there is no such file or directory',
  EACCES: 'it is not readable for this user',
};

function readable<Result>(file: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw new UsageError(`${file} cannot be read: ${REASONS[code] ?? message}`);
  }
}
