import { open } from 'node:fs/promises';

/**
 * Entries of the log on disk, each as it was signed: a line with its length, its bytes, a newline. A crash
 * during a write leaves an incomplete entry at the end, which is not read.
 */
const MAGIC = 'gateway-deltas 1\n';
const ANY_MAGIC = /^gateway-deltas (\d{1,9})\n/;
const LENGTH = /^(\d{1,9})\n/;
const LENGTH_CHARS = 10;
const CUT_OFF = 'the file is truncated: only the complete deltas before the end are used';

/**
 * The entries of a file, up to the first incomplete one.
 *
 * @throws after the last complete entry if the file is truncated, and at once if it is not a delta file
 */
export function* readEntries(content: Buffer): Generator<Uint8Array> {
  if (!content.subarray(0, MAGIC.length).equals(Buffer.from(MAGIC))) {
    const [, format] = ANY_MAGIC.exec(content.toString('latin1', 0, MAGIC.length + 10)) ?? [];
    throw format === undefined
      ? new Error('not a delta file, or truncated')
      : new Error(`unknown format ${format}`);
  }
  for (let at = MAGIC.length; at < content.length;) {
    const head = content.toString('latin1', at, at + LENGTH_CHARS);
    const [line, length] = LENGTH.exec(head) ?? [];
    if (line === undefined) throw new Error(CUT_OFF);
    const start = at + line.length;
    const end = start + Number(length);
    // The newline after the entry was written last.
    if (end >= content.length) throw new Error(CUT_OFF);
    yield content.subarray(start, end);
    at = end + 1;
  }
}

/** Appends entries to a file, creates it if it is missing, and flushes them to the disk. */
export async function appendEntries(path: string, entries: readonly Uint8Array[]): Promise<void> {
  const file = await open(path, 'a', 0o600);
  try {
    const { size } = await file.stat();
    const parts = entries.flatMap((entry) => [`${entry.length}\n`, entry, '\n']);
    if (size === 0) parts.unshift(MAGIC);
    await file.writev(parts.map((part) => Buffer.from(part)));
    await file.sync();
  } finally {
    await file.close();
  }
}
