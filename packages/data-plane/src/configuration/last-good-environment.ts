import { open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder } from '@gateway/shared/files/make-folder';
import { formatLine, requireFormatLine } from '@gateway/shared/formats';

/** The first word of the file. */
export const LAST_GOOD_KIND = 'gateway-last-good';
/** Format of the file; the snapshot in it has a format of its own. */
export const LAST_GOOD_FORMAT = 1;
export const SNAPSHOT_SUFFIX = '.snapshot';
const DELTAS_SUFFIX = '.deltas';
const DRAFT_SUFFIX = '.draft';

/** Deltas longer than this share of the snapshot, and than this many bytes, should be replaced by a snapshot. */
const LONG_SHARE = 0.5;
const LONG_BYTES = 256 * 1024;
/** Deltas that no snapshot replaces are written up to this size; then writes fail. */
const MAX_BYTES = 64 * 1024 * 1024;

interface DeltaFile {
  readonly name: string;
  /** Version of its last entry. */
  last: number;
  bytes: number;
}

interface Waiting {
  snapshot:
    | { readonly text: string; readonly bytes: Uint8Array; readonly version: number }
    | undefined;
  deltas: { readonly sealed: Uint8Array; readonly version: number }[];
}

/**
 * The files of one environment: `<name>.snapshot`, and `<name>.<version>.deltas` with the deltas that follow,
 * named for the first of them. Writes never overlap. If several wait, the last snapshot is written, and the
 * deltas after it.
 */
export class LastGoodEnvironment {
  readonly #dir: string;
  readonly #name: string;
  #waiting: Waiting = { snapshot: undefined, deltas: [] };
  #writing: Promise<void> | undefined;
  #files: DeltaFile[];
  #current: DeltaFile | undefined;
  #snapshotBytes: number;
  #writeFailed = false;

  /** @param files delta files that exist */
  constructor(dir: string, name: string, snapshotBytes = 0, files: readonly DeltaFile[] = []) {
    this.#dir = dir;
    this.#name = name;
    this.#snapshotBytes = snapshotBytes;
    this.#files = [...files];
  }

  isLong(): boolean {
    const bytes = this.#files.reduce((sum, file) => sum + file.bytes, 0);
    return this.#writeFailed || bytes > Math.max(LONG_BYTES, LONG_SHARE * this.#snapshotBytes);
  }

  /** Replaces the snapshot file and removes the deltas that it holds. Rejects if the write fails. */
  snapshot(text: string, bytes: Uint8Array, version: number): Promise<void> {
    this.#waiting.snapshot = { text, bytes, version };
    this.#waiting.deltas = this.#waiting.deltas.filter((delta) => delta.version > version);
    return this.#write();
  }

  /** Appends a delta. Rejects if the write fails; then a snapshot is needed. */
  delta(sealed: Uint8Array, version: number): Promise<void> {
    this.#waiting.deltas.push({ sealed, version });
    return this.#write();
  }

  #write(): Promise<void> {
    this.#writing ??= this.#writeAll();
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    // Calls of the same turn are written together.
    await Promise.resolve();
    let failure: { readonly error: unknown } | undefined;
    while (this.#waiting.snapshot !== undefined || this.#waiting.deltas.length > 0) {
      const { snapshot, deltas } = this.#waiting;
      this.#waiting = { snapshot: undefined, deltas: [] };
      try {
        if (snapshot !== undefined) {
          await this.#replace(snapshot);
          // The snapshot holds what could not be written before.
          failure = undefined;
        }
        if (deltas.length > 0) await this.#append(deltas);
      } catch (error) {
        failure = { error };
        this.#writeFailed = true;
      }
    }
    this.#writing = undefined;
    if (failure !== undefined) throw failure.error;
  }

  async #replace({ text, bytes, version }: NonNullable<Waiting['snapshot']>): Promise<void> {
    const content = [
      Buffer.from(`${formatLine(LAST_GOOD_KIND, LAST_GOOD_FORMAT)}${text}\n`),
      bytes,
    ];
    await replaceFile(this.#dir, this.#name + SNAPSHOT_SUFFIX, content);
    this.#snapshotBytes = bytes.length;
    this.#writeFailed = false;
    const old = this.#files.filter(({ last }) => last <= version);
    this.#files = this.#files.filter(({ last }) => last > version);
    for (const { name } of old) await rm(path.join(this.#dir, name), { force: true });
    this.#current = undefined;
  }

  async #append(deltas: Waiting['deltas']): Promise<void> {
    const last = deltas.at(-1)?.version ?? 0;
    const added = deltas.reduce((sum, { sealed }) => sum + sealed.length, 0);
    const held = this.#files.reduce((sum, file) => sum + file.bytes, 0);
    if (held + added > MAX_BYTES) {
      throw new Error(
        'the kept deltas exceed their limit, and no snapshot is available to replace them',
      );
    }
    const file = this.#current ?? this.#begin(deltas[0]?.version ?? last);
    file.last = Math.max(file.last, last);
    file.bytes += added;
    try {
      await makeFolder(this.#dir, 0o700);
      await appendEntries(
        path.join(this.#dir, file.name),
        deltas.map(({ sealed }) => sealed),
      );
    } catch (error) {
      // The file may end with an incomplete entry, and nothing after it would be read.
      this.#current = undefined;
      throw error;
    }
  }

  #begin(version: number): DeltaFile {
    const file = { name: `${this.#name}.${version}${DELTAS_SUFFIX}`, last: 0, bytes: 0 };
    this.#files = [...this.#files.filter(({ name }) => name !== file.name), file];
    this.#current = file;
    return file;
  }
}

/** A crash at any point leaves the old file or the new one, never a part of either. */
async function replaceFile(
  dir: string,
  name: string,
  content: readonly Uint8Array[],
): Promise<void> {
  await makeFolder(dir, 0o700);
  const draft = path.join(dir, name + DRAFT_SUFFIX);
  try {
    const file = await open(draft, 'w', 0o600);
    try {
      await file.writev([...content]);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path.join(dir, name));
  } catch (error) {
    // On a full disk the draft would take space that others need.
    await rm(draft, { force: true }).catch(() => undefined);
    throw error;
  }
  const folder = await open(dir, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/**
 * Entries of the log on disk, each as it was signed: a line with its length, its bytes, a newline. A crash
 * during a write leaves an incomplete entry at the end, which is not read.
 */
const DELTA_KIND = 'gateway-deltas';
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
  for (let at = requireFormatLine(content, DELTA_KIND, DELTA_FILE_FORMAT); at < content.length;) {
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
    if (size === 0) parts.unshift(formatLine(DELTA_KIND, DELTA_FILE_FORMAT));
    await file.writev(parts.map((part) => Buffer.from(part)));
    await file.sync();
  } finally {
    await file.close();
  }
}
