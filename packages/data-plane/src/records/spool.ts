import { open, readdir, readFile, rm, stat, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { hasCode } from '../files/has-code.ts';
import { makeFolder } from '@gateway/shared/files/make-folder';
import { formatLine, readFormatLine } from '@gateway/shared/formats';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { RecordBatch } from './record-batcher.ts';
import { decodeFrames, encodeFrame } from './spool-frame.ts';

export interface SpoolOptions {
  /** Created by the first write. */
  readonly dir: string;
  readonly maxBytes: number;
  /** The size at which a file is closed and the next one is started. A file is read as a whole. */
  readonly segmentBytes: number;
  readonly log: Logger;
}

/** What happened to a batch. */
export type AppendResult = 'spooled' | 'spool_full' | 'spool_failed';

/** The batches of one file. */
export interface SpoolSegment {
  readonly batches: readonly RecordBatch[];
  /** Removes the file, when all of it has been sent. */
  remove(): Promise<void>;
}

/**
 * Stores batches on disk, in files that are written once and removed as a whole. The next process finds the files of one
 * that has crashed. Calls run one after the other, in their order, and never reject.
 */
export interface Spool {
  /** The size of all files; 0 until the folder was read. */
  readonly bytes: number;
  /** Writes a batch. */
  append(batch: RecordBatch): Promise<AppendResult>;
  /** Reads the oldest file that was not taken yet, without an incomplete end and damaged batches. */
  take(): Promise<SpoolSegment | undefined>;
  /** Closes the current file and flushes it to the disk. */
  close(): Promise<void>;
}

interface Segment {
  readonly number: number;
  bytes: number;
}

const KIND = 'gateway-spool';
const SPOOL_FILE_FORMAT = 1;
const FIRST_LINE = Buffer.from(formatLine(KIND, SPOOL_FILE_FORMAT));

const NAME = /^records-(\d{10})\.spool$/;

/** The number in the name of a spool file, which gives the order; undefined for other files. */
export function spoolFileNumber(name: string): number | undefined {
  const [, digits] = NAME.exec(name) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** The name of the spool file with this number. */
export function spoolFileName(number: number): string {
  return `records-${String(number).padStart(10, '0')}.spool`;
}

/** Opens the spool in a folder. */
export function openSpool(options: SpoolOptions): Spool {
  const { dir, maxBytes, segmentBytes, log } = options;
  /** Files that are closed and not taken, oldest first. */
  let closed: Segment[] = [];
  let current: (Segment & { readonly file: FileHandle }) | undefined;
  let nextNumber = 1;
  let bytes = 0;
  let failing = false;
  let last: Promise<unknown> = scan();

  /** Runs the step after all earlier ones. */
  function inTurn<T>(step: () => Promise<T>): Promise<T> {
    const done = last.then(step);
    // The caller sees a failure; the next step runs anyway.
    last = done.catch(() => undefined);
    return done;
  }

  const fileOf = ({ number }: Segment): string => path.join(dir, spoolFileName(number));

  async function scan(): Promise<void> {
    try {
      for (const name of await readdir(dir)) {
        const number = spoolFileNumber(name);
        if (number === undefined) continue;
        const segment = { number, bytes: (await stat(path.join(dir, name))).size };
        closed.push(segment);
        bytes += segment.bytes;
      }
    } catch (error) {
      if (!hasCode(error, 'ENOENT'))
        log.error({ reason: String(error) }, 'spool folder not readable');
    }
    closed = closed.toSorted((a, b) => a.number - b.number);
    nextNumber = (closed.at(-1)?.number ?? 0) + 1;
  }

  async function append(batch: RecordBatch): Promise<AppendResult> {
    const frame = encodeFrame(batch);
    const added = current === undefined ? Buffer.concat([FIRST_LINE, frame]) : frame;
    if (bytes + added.length > maxBytes) return 'spool_full';
    try {
      current ??= await begin();
      await current.file.writeFile(added);
      current.bytes += added.length;
      bytes += added.length;
      if (current.bytes >= segmentBytes) await end();
      failing = false;
      return 'spooled';
    } catch (error) {
      if (!failing) log.error({ reason: String(error) }, 'spool write failed');
      failing = true;
      // A part of the frame may be in the file, so nothing is appended to this file any more.
      await end(true);
      return 'spool_failed';
    }
  }

  async function begin(): Promise<Segment & { file: FileHandle }> {
    await makeFolder(dir, 0o700);
    for (;;) {
      const segment = { number: nextNumber, bytes: 0 };
      nextNumber += 1;
      try {
        return { ...segment, file: await open(fileOf(segment), 'ax', 0o600) };
      } catch (error) {
        // A former process that has not ended yet has created it since the scan. The next process sends it.
        if (!hasCode(error, 'EEXIST')) throw error;
      }
    }
  }

  async function end(torn = false): Promise<void> {
    if (current === undefined) return;
    const { file, number, bytes: written } = current;
    current = undefined;
    // On a full disk a file can be created, but not written.
    if (written > 0) closed.push({ number, bytes: written });
    try {
      if (written === 0) await rm(fileOf({ number, bytes: 0 }), { force: true });
      if (torn) await file.truncate(written);
      await file.sync();
    } catch (error) {
      log.error({ reason: String(error) }, 'spool file not flushed to the disk');
    } finally {
      await file.close().catch((error: unknown) => {
        log.error({ reason: String(error) }, 'spool file not closed');
      });
    }
  }

  async function take(): Promise<SpoolSegment | undefined> {
    for (;;) {
      if (closed.length === 0) await end();
      const segment = closed.shift();
      if (segment === undefined) return undefined;
      const batches = await read(segment);
      if (batches === undefined) continue;
      if (batches.length > 0) return { batches, remove: () => inTurn(() => remove(segment)) };
      await remove(segment);
    }
  }

  /** Returns undefined if this process cannot read the file; it stays for the next process. */
  async function read(segment: Segment): Promise<readonly RecordBatch[] | undefined> {
    const name = path.basename(fileOf(segment));
    try {
      const content = await readFile(fileOf(segment));
      const line = readFormatLine(content, KIND, SPOOL_FILE_FORMAT);
      if (line?.readable === false) {
        log.error({ file: name, format: line.format }, 'spool file of unknown format skipped');
        return undefined;
      }
      // A damaged first line loses no batch.
      const { batches, tornBytes, damagedBytes } = decodeFrames(content.subarray(line?.end ?? 0));
      if (damagedBytes > 0) {
        const fields = { file: name, damaged_bytes: damagedBytes };
        log.error(fields, 'damaged spool records skipped; they are lost');
      }
      if (tornBytes > 0) {
        log.warn({ file: name, torn_bytes: tornBytes }, 'incomplete end of a spool file skipped');
      }
      return batches;
    } catch (error) {
      log.error({ file: name, reason: String(error) }, 'spool file not readable');
      return undefined;
    }
  }

  async function remove(segment: Segment): Promise<void> {
    try {
      await rm(fileOf(segment), { force: true });
      bytes -= segment.bytes;
    } catch (error) {
      // The next process sends it again. Readers recognize its records by their ids.
      log.error({ reason: String(error) }, 'spool file not removed');
    }
  }

  return {
    get bytes() {
      return bytes;
    },
    append: (batch) => inTurn(() => append(batch)),
    take: () => inTurn(take),
    close: () => inTurn(() => end()),
  };
}
