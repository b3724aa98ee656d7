import { open } from 'node:fs/promises';

/**
 * Entries of the log on disk, one behind the other, each as it was signed: a line with its length, its
 * bytes, a newline. A crash in the midst of a write leaves a part at the end, which is not read.
 */
const MAGIC = 'gateway-deltas 1\n';
const ANY_MAGIC = /^gateway-deltas (\d{1,9})\n/;
const LENGTH = /^(\d{1,9})\n/;
const LENGTH_CHARS = 10;
const CUT_OFF = 'the file is cut off: what comes after the last whole change is not read';

/**
 * The entries of a file, up to the first that is not whole.
 *
 * @throws behind the last whole one where it is cut off there, and at once where it is no such file
 */
export function* readEntries(content: Buffer): Generator<Uint8Array> {
  if (!content.subarray(0, MAGIC.length).equals(Buffer.from(MAGIC))) {
    const [, format] = ANY_MAGIC.exec(content.toString('latin1', 0, MAGIC.length + 10)) ?? [];
    throw format === undefined
      ? new Error('the file holds no changes, or is cut off')
      : new Error(`the file is of format ${format}, which this version does not know`);
  }
  for (let at = MAGIC.length; at < content.length;) {
    const head = content.toString('latin1', at, at + LENGTH_CHARS);
    const [line, length] = LENGTH.exec(head) ?? [];
    if (line === undefined) throw new Error(CUT_OFF);
    const start = at + line.length;
    const end = start + Number(length);
    // The newline behind it was written last.
    if (end >= content.length) throw new Error(CUT_OFF);
    yield content.subarray(start, end);
    at = end + 1;
  }
}

/** Adds entries at the end of a file, which is made where there is none, and has them on disk. */
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
