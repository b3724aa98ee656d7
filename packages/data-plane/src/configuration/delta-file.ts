import { open } from 'node:fs/promises';
import { formatLine, requireFormatLine } from '@gateway/shared/formats';

/**
 * Entries of the log on disk, each as it was signed: a line with its length, its bytes, a newline. A crash
 * during a write leaves an incomplete entry at the end, which is not read.
 */
const KIND = 'gateway-deltas';
const DELTA_FILE_FORMAT = 1;
const LENGTH = /^(\d{1,9})\n/;
const LENGTH_CHARS = 10;
const CUT_OFF = 'the file is truncated: only the complete deltas before the end are used';

/**
 * The entries of a file, up to the first incomplete one.
 *
 * @throws after the last complete entry if the file is truncated, and at once if it is not a delta file
 */
export function* readEntries(content: Buffer): Generator<Uint8Array> {
  for (let at = requireFormatLine(content, KIND, DELTA_FILE_FORMAT); at < content.length;) {
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
    if (size === 0) parts.unshift(formatLine(KIND, DELTA_FILE_FORMAT));
    await file.writev(parts.map((part) => Buffer.from(part)));
    await file.sync();
  } finally {
    await file.close();
  }
}
