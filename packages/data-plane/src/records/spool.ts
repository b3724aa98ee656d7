import { open, readdir, readFile, rm, stat, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder } from '@gateway/shared/files/make-folder';
import { formatLine, readFormatLine } from '@gateway/shared/formats';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { RecordBatch } from './record-batcher.ts';
import { decodeFrames, encodeFrame } from './spool-frame.ts';

export interface SpoolOptions {
  /** Made when something is first written. */
  readonly dir: string;
  readonly maxBytes: number;
  /** From this size on a file is closed and another begun; a file is read as a whole. */
  readonly segmentBytes: number;
  readonly log: Logger;
}

export type AppendResult = 'spooled' | 'spool_full' | 'spool_failed';

export interface SpoolSegment {
  readonly batches: readonly RecordBatch[];
  /** All of it has been sent. */
  remove(): Promise<void>;
}

/**
 * Batches on disk, in files that are written once and removed whole. What a crashed process left is
 * found by the next. No call rejects. Calls are made one after the other, in their order.
 */
export interface Spool {
  /** On disk; 0 until the first call has looked. */
  readonly bytes: number;
  append(batch: RecordBatch): Promise<AppendResult>;
  /** The oldest file that was not taken yet; a torn end, and what is damaged, is left out. */
  take(): Promise<SpoolSegment | undefined>;
  /** Flushes what was written to the disk. */
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

/** The number in the name of a spool's file, by which files are ordered; undefined where it is none. */
export function spoolFileNumber(name: string): number | undefined {
  const [, digits] = NAME.exec(name) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

export function spoolFileName(number: number): string {
  return `records-${String(number).padStart(10, '0')}.spool`;
}

export function openSpool(options: SpoolOptions): Spool {
  const { dir, maxBytes, segmentBytes, log } = options;
  /** Closed and not taken, oldest first. */
  let closed: Segment[] = [];
  let current: (Segment & { readonly file: FileHandle }) | undefined;
  let nextNumber = 1;
  let bytes = 0;
  let failing = false;
  let last: Promise<unknown> = scan();

  /** Runs after everything before it. */
  function inTurn<T>(step: () => Promise<T>): Promise<T> {
    const done = last.then(step);
    // Who called sees a failure; it does not stand in the way of the next call.
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
        log.error({ reason: String(error) }, 'the spool cannot be read');
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
      if (!failing) log.error({ reason: String(error) }, 'the spool cannot be written');
      failing = true;
      // A part of the frame may be in the file, and what followed it there would not be read.
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
        // A process before this one, which has not quite ended, wrote it since we looked; the next one sends it.
        if (!hasCode(error, 'EEXIST')) throw error;
      }
    }
  }

  async function end(torn = false): Promise<void> {
    if (current === undefined) return;
    const { file, number, bytes: written } = current;
    current = undefined;
    // On a full disk files can be made that nothing can be written to.
    if (written > 0) closed.push({ number, bytes: written });
    try {
      if (written === 0) await rm(fileOf({ number, bytes: 0 }), { force: true });
      if (torn) await file.truncate(written);
      await file.sync();
    } catch (error) {
      log.error({ reason: String(error) }, 'a file of the spool could not be flushed to the disk');
    } finally {
      await file.close().catch((error: unknown) => {
        log.error({ reason: String(error) }, 'a file of the spool could not be closed');
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

  /** undefined: it cannot be read by this process; it stays for the next one. */
  async function read(segment: Segment): Promise<readonly RecordBatch[] | undefined> {
    const name = path.basename(fileOf(segment));
    try {
      const content = await readFile(fileOf(segment));
      const line = readFormatLine(content, KIND, SPOOL_FILE_FORMAT);
      if (line?.readable === false) {
        log.error({ file: name, format: line.format }, 'spool file of unknown format skipped');
        return undefined;
      }
      // A damaged first line costs no batch.
      const { batches, tornBytes, damagedBytes } = decodeFrames(content.subarray(line?.end ?? 0));
      if (damagedBytes > 0) {
        const damage = { file: name, damaged_bytes: damagedBytes };
        log.error(damage, 'a file of the spool is damaged: the records at that place are lost');
      }
      if (tornBytes > 0) {
        log.warn({ file: name, torn_bytes: tornBytes }, 'the torn end of a spool file is left out');
      }
      return batches;
    } catch (error) {
      log.error({ file: name, reason: String(error) }, 'a file of the spool cannot be read');
      return undefined;
    }
  }

  async function remove(segment: Segment): Promise<void> {
    try {
      await rm(fileOf(segment), { force: true });
      bytes -= segment.bytes;
    } catch (error) {
      // It is sent again by the next process, and known there by the ids of its records.
      log.error({ reason: String(error) }, 'a file of the spool cannot be removed');
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

function hasCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}
