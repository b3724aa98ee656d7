import { open, readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { MasterKey } from '@gateway/shared/config/master-keys';
import { makeFolder } from '@gateway/shared/files/make-folder';
import { openPointer, openSnapshot } from '@gateway/shared/snapshot/codec';
import type { Snapshot, SnapshotPointer } from '@gateway/shared/snapshot/schema';
import type { Logger } from '@gateway/shared/telemetry/logger';

export interface LastGood {
  readonly pointer: SnapshotPointer;
  readonly snapshot: Snapshot;
}

/**
 * The configuration that each environment last ran, on disk, so that a data plane that restarts while
 * NATS is away serves (DESIGN section 1). It is proven on reading just as what comes from NATS.
 */
export interface LastGoodStore {
  /** What verifies. A file that does not is left where it is, with a line in the log; never rejects. */
  load(): Promise<readonly LastGood[]>;
  /** Replaces the environment's file as a whole; of several waiting ones only the newest is written. */
  save(environment: string, pointerText: string, bytes: Uint8Array): Promise<void>;
}

type Write = () => Promise<void>;

/** Of this file, not of the snapshot in it, which names its own. */
const MAGIC = 'gateway-last-good 1\n';
const ANY_MAGIC = /^gateway-last-good (\d{1,9})\n/;
const SUFFIX = '.snapshot';
const DRAFT_SUFFIX = '.draft';
const NEWLINE = 0x0a;

/** @param dir made at the first save when it is not there. */
export function openLastGood(dir: string, keys: readonly MasterKey[], log: Logger): LastGoodStore {
  /** The writes of each environment: the one under way, and the newest of those that wait. */
  const writes = new Map<string, { done: Promise<void>; next: Write | undefined }>();

  // Writes of one environment never overlap, as they go through the same draft.
  function enqueue(environment: string, write: Write): Promise<void> {
    const current = writes.get(environment);
    if (current !== undefined) {
      current.next = write;
      return current.done;
    }
    const entry = { done: Promise.resolve(), next: write as Write | undefined };
    writes.set(environment, entry);
    entry.done = writeAll(entry).finally(() => writes.delete(environment));
    return entry.done;
  }

  async function writeAll(entry: { next: Write | undefined }): Promise<void> {
    let failure: { readonly error: unknown } | undefined;
    for (let write = entry.next; write !== undefined; write = entry.next) {
      entry.next = undefined;
      try {
        await write();
        failure = undefined;
      } catch (error) {
        // A later write that succeeds makes up for it: the file is then the newest.
        failure = { error };
      }
    }
    if (failure !== undefined) throw failure.error;
  }

  async function read(name: string): Promise<LastGood | undefined> {
    try {
      const environment = decodeURIComponent(name.slice(0, -SUFFIX.length));
      return await parse(environment, await readFile(path.join(dir, name)), keys);
    } catch (error) {
      log.warn({ file: name, reason: reasonOf(error) }, 'a last-good configuration is not used');
      return undefined;
    }
  }

  return {
    async load() {
      let names: string[];
      try {
        names = await readdir(dir);
      } catch (error) {
        if (!isMissing(error)) {
          log.warn({ reason: reasonOf(error) }, 'the last-good configurations cannot be read');
        }
        return [];
      }
      const found = await Promise.all(names.filter((name) => name.endsWith(SUFFIX)).map(read));
      return found.filter((one) => one !== undefined);
    },
    save: (environment, pointerText, bytes) =>
      enqueue(environment, () => replace(dir, fileName(environment), pointerText, bytes)),
  };
}

/** Readable, and with no way out of the folder, whatever the environment is called. */
function fileName(environment: string): string {
  return `${encodeURIComponent(environment).replace(/^\./, '%2E')}${SUFFIX}`;
}

/** A crash at any point leaves the old file or the new one, never a part of either. */
async function replace(
  dir: string,
  name: string,
  pointerText: string,
  bytes: Uint8Array,
): Promise<void> {
  await makeFolder(dir, 0o700);
  const draft = path.join(dir, name + DRAFT_SUFFIX);
  try {
    const file = await open(draft, 'w', 0o600);
    try {
      await file.writev([Buffer.from(`${MAGIC}${pointerText}\n`), bytes]);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path.join(dir, name));
  } catch (error) {
    // On a full disk the draft would take up what others need.
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

async function parse(
  environment: string,
  content: Buffer,
  keys: readonly MasterKey[],
): Promise<LastGood> {
  const head = content.toString('latin1', 0, MAGIC.length + 10);
  if (!head.startsWith(MAGIC)) {
    const [, format] = ANY_MAGIC.exec(head) ?? [];
    throw new Error(
      format === undefined
        ? 'the file is no last-good configuration, or cut off'
        : `the file is of format ${format}, which this version does not know`,
    );
  }
  const end = content.indexOf(NEWLINE, MAGIC.length);
  if (end === -1) throw new Error('the file is cut off');
  const pointer = openPointer(content.toString('utf8', MAGIC.length, end), environment, keys);
  const snapshot = await openSnapshot(pointer, content.subarray(end + 1));
  return { pointer, snapshot };
}

function isMissing(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT';
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
