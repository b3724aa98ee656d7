import { messageOf } from '@gateway/shared/errors/message-of';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { MasterKey } from '@gateway/shared/config/master-keys';
import { hasCode } from '../files/has-code.ts';
import { requireFormatLine } from '@gateway/shared/formats';
import {
  openPointer,
  openSnapshot,
  type ReadSnapshot,
} from '@gateway/shared/snapshot/signed-snapshot';
import { openLogEntry, type VerifiedEntry } from '@gateway/shared/snapshot/signed-log-entry';
import type { SnapshotPointer } from '@gateway/shared/snapshot/schema';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { readEntries } from './last-good-environment.ts';
import {
  LAST_GOOD_FORMAT,
  LAST_GOOD_KIND,
  LastGoodEnvironment,
  SNAPSHOT_SUFFIX,
} from './last-good-environment.ts';

export interface LastGood {
  readonly pointer: SnapshotPointer;
  readonly snapshot: ReadSnapshot;
  /** The deltas after the snapshot, in the order of their versions. */
  readonly deltas: readonly VerifiedEntry[];
}

/**
 * The configuration that was served last, by environment, on disk: a data plane that restarts without NATS
 * serves it. It is verified when it is read, as what NATS delivers is.
 */
export interface LastGoodStore {
  /** Reads what verifies. Any other file stays where it is, with a line in the log. Never rejects. */
  load(): Promise<readonly LastGood[]>;
  of(environment: string): LastGoodEnvironment;
}

/** Writes what is served of an environment to its files. A failed write is reported elsewhere. */
export interface LastGoodWriter {
  snapshot(pointerText: string, bytes: Uint8Array, version: number): void;
  delta(sealed: Uint8Array, version: number): void;
  /** Whether the deltas are so long that a snapshot should replace them, if one is available. */
  isLong(): boolean;
}

const DELTAS_NAME = /^(.+)\.\d+\.deltas$/;
const NEWLINE = 0x0a;

/** @param dir created at the first write if it is missing */
export function openLastGood(dir: string, keys: readonly MasterKey[], log: Logger): LastGoodStore {
  const environments = new Map<string, LastGoodEnvironment>();

  async function read(name: string, names: readonly string[]): Promise<LastGood | undefined> {
    try {
      const stem = name.slice(0, -SNAPSHOT_SUFFIX.length);
      const environment = decodeURIComponent(stem);
      const content = await readFile(path.join(dir, name));
      const { pointer, snapshot } = await parse(environment, content, keys);
      const ours = names.filter((one) => DELTAS_NAME.exec(one)?.[1] === stem);
      const files = await Promise.all(ours.map((one) => readDeltas(one, environment)));
      const known = files.map(({ file }) => file);
      const kept = new LastGoodEnvironment(dir, stem, content.length, known);
      environments.set(environment, kept);
      const deltas = files
        .flatMap((file) => file.deltas)
        .toSorted((a, b) => a.entry.version - b.entry.version);
      return { pointer, snapshot, deltas };
    } catch (error) {
      log.warn({ file: name, reason: messageOf(error) }, 'last-good file skipped');
      return undefined;
    }
  }

  async function readDeltas(name: string, environment: string) {
    const deltas: VerifiedEntry[] = [];
    let bytes = 0;
    try {
      for (const sealed of readEntries(await readFile(path.join(dir, name)))) {
        bytes += sealed.length;
        deltas.push(openLogEntry(sealed, environment, keys));
      }
    } catch (error) {
      log.warn({ file: name, reason: messageOf(error) }, 'last-good deltas skipped');
    }
    const last = Math.max(0, ...deltas.map(({ entry }) => entry.version));
    return { deltas, file: { name, last, bytes } };
  }

  return {
    async load() {
      let names: string[];
      try {
        names = await readdir(dir);
      } catch (error) {
        if (!hasCode(error, 'ENOENT')) {
          log.warn({ reason: messageOf(error) }, 'last-good configurations not readable');
        }
        return [];
      }
      const snapshots = names.filter((name) => name.endsWith(SNAPSHOT_SUFFIX));
      const found = await Promise.all(snapshots.map((name) => read(name, names)));
      return found.filter((one) => one !== undefined);
    },
    of(environment) {
      const known = environments.get(environment);
      if (known !== undefined) return known;
      const made = new LastGoodEnvironment(dir, stemOf(environment));
      environments.set(environment, made);
      return made;
    },
  };
}

/** The name of an environment as a file name that stays in the folder. */
function stemOf(environment: string): string {
  return encodeURIComponent(environment).replace(/^\./, '%2E');
}

async function parse(
  environment: string,
  content: Buffer,
  keys: readonly MasterKey[],
): Promise<Pick<LastGood, 'pointer' | 'snapshot'>> {
  const start = requireFormatLine(content, LAST_GOOD_KIND, LAST_GOOD_FORMAT);
  const end = content.indexOf(NEWLINE, start);
  if (end === -1) throw new Error('the file is truncated');
  const pointer = openPointer(content.toString('utf8', start, end), environment, keys);
  const snapshot = await openSnapshot(pointer, content.subarray(end + 1));
  return { pointer, snapshot };
}
