import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { IdempotencyStore } from '../../src/idempotency/store/idempotency-store.ts';

/** A name that no other test uses, because all tests may share one store. */
export function newName(): string {
  return randomBytes(32).toString('base64url');
}

const text = (value: Uint8Array | undefined) =>
  value === undefined ? undefined : Buffer.from(value).toString('latin1');
const bytes = (value: string) => Buffer.from(value, 'latin1');

/** The contract that every store of idempotency keys keeps. */
export function describeStore(name: string, store: () => IdempotencyStore): void {
  describe(name, () => {
    it('has no value under a name that was never written', async () => {
      expect(await store().read(newName())).toEqual({ revision: 0, value: undefined });
    });

    it('returns what was written, with the revision that the write returned', async () => {
      const key = newName();
      const all = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
      const revision = await store().write(key, all, 0);
      const found = await store().read(key);
      expect(found.revision).toBe(revision);
      expect(Buffer.from(found.value ?? [])).toEqual(all);
    });

    it('refuses a change with another revision, and keeps the value', async () => {
      const key = newName();
      const first = (await store().write(key, bytes('first'), 0)) ?? 0;
      expect(await store().write(key, bytes('second'), 0)).toBeUndefined();
      expect(await store().write(key, bytes('second'), first + 1000)).toBeUndefined();
      expect(await store().remove(key, 0)).toBeUndefined();
      expect(text((await store().read(key)).value)).toBe('first');
      const second = (await store().write(key, bytes('second'), first)) ?? 0;
      expect(second).toBeGreaterThan(first);
      expect(await store().write(key, bytes('third'), first)).toBeUndefined();
      expect(text((await store().read(key)).value)).toBe('second');
    });

    it('accepts one of many simultaneous writes with the same revision', async () => {
      const key = newName();
      const race = async (revision: number) => {
        const tries = Array.from({ length: 20 }, (_, index) =>
          store().write(key, bytes(`writer ${index}`), revision),
        );
        const won = (await Promise.all(tries)).filter((result) => result !== undefined);
        expect(won).toHaveLength(1);
        return won[0] ?? 0;
      };
      const first = await race(0);
      expect(await race(first)).toBeGreaterThan(first);
    });

    it('accepts a write to a removed name with the revision of the removal', async () => {
      const key = newName();
      const written = (await store().write(key, bytes('value'), 0)) ?? 0;
      const removed = (await store().remove(key, written)) ?? 0;
      expect(await store().read(key)).toEqual({ revision: removed, value: undefined });
      expect(await store().write(key, bytes('stale'), written)).toBeUndefined();
      expect(await store().write(key, bytes('again'), removed)).toBeGreaterThan(removed);
    });

    it('accepts a value of the largest size', async () => {
      const key = newName();
      const largest = randomBytes(store().maxValueBytes);
      await store().write(key, largest, 0);
      expect(Buffer.from((await store().read(key)).value ?? []).equals(largest)).toBe(true);
    });
  });
}
