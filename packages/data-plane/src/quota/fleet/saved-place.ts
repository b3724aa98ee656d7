import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { hasCode } from '../../files/has-code.ts';
import { formatField } from '@gateway/shared/formats';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { z } from 'zod';

/** The format of the file. */
const QUOTA_PLACE_FORMAT = 1;

const leftoverSchema = z.object({
  hash: z.string().max(64),
  window_ms: z.int().min(1),
  window: z.int().min(0),
  limit: z.int().min(1),
  /** Leased and not used. */
  unused: z.int().min(0),
  reserve: z.int().min(0),
  /** How often the reserve was stored in the ledger. */
  writes: z.int().min(0),
  /** Granted, and not stored in the ledger. */
  debt: z.int().min(0),
});

const placeSchema = z.object({
  format: formatField(QUOTA_PLACE_FORMAT),
  slot: z.int().min(0),
  parts: z.int().min(0),
  from_ms: z.number(),
  /** Of windows that began before, a process that was killed may have used or released the reserve. */
  usable_from_ms: z.number(),
  /** A process that was killed may have granted requests of windows that began before, and the ledger does not know of them. */
  spent_before_ms: z.number().optional(),
  /** The data plane has granted what the ledger does not know of. */
  owes: z.boolean(),
  /** After an orderly stop without NATS: all windows of which it had used or released anything. */
  leftovers: z.array(leftoverSchema).readonly().optional(),
});

/** What a data plane that stops has left of one window. */
export type Leftover = Readonly<z.infer<typeof leftoverSchema>>;

/** The place in the fleet, as this data plane keeps it on disk. */
export type SavedPlace = Readonly<Omit<z.infer<typeof placeSchema>, 'format'>>;

/**
 * The file with the place of this data plane in the fleet. It is written at once, before a grant that depends on it, but
 * not synced: it is for a process that was killed, not for a machine that lost power.
 *
 * @param file its folder is created if it is missing
 */
export function openSavedPlace(file: string, log: Logger) {
  let failing = false;
  return {
    /** The place of the former process; undefined if there is none, or the file cannot be read. */
    load(): SavedPlace | undefined {
      try {
        const stored = placeSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
        const { slot, parts, from_ms, usable_from_ms, spent_before_ms, owes, leftovers } = stored;
        return { slot, parts, from_ms, usable_from_ms, spent_before_ms, owes, leftovers };
      } catch (error) {
        if (hasCode(error, 'ENOENT')) return undefined;
        log.warn({ file, reason: String(error) }, 'quota place skipped; a new one is taken');
        return undefined;
      }
    },
    /** Never throws: a place that is not kept is taken anew after a restart. */
    save(place: SavedPlace | undefined): void {
      try {
        if (place === undefined) {
          rmSync(file, { force: true });
          return;
        }
        mkdirSync(path.dirname(file), { recursive: true });
        writeFileSync(`${file}.new`, JSON.stringify({ format: QUOTA_PLACE_FORMAT, ...place }));
        renameSync(`${file}.new`, file);
        failing = false;
      } catch (error) {
        if (!failing) log.warn({ file, reason: String(error) }, 'quota place could not be saved');
        failing = true;
      }
    },
  };
}
