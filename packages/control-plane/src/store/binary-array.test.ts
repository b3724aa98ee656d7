import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { sql } from 'kysely';
import { openTestStore, type TestStore } from '../../test/store.ts';
import { float8Array, textArray } from './binary-array.ts';

let store: TestStore;
beforeAll(async () => void (store = await openTestStore()));
afterAll(() => store.close());

describe('binary arrays', () => {
  it('are read by Postgres as their values', async () => {
    const text = fc.string({ unit: 'binary', maxLength: 40 }).filter((one) => !one.includes('\0'));
    const texts = fc.array(fc.option(text));
    const numbers = fc.array(fc.option(fc.double({ noNaN: true })));
    await fc.assert(
      fc.asyncProperty(texts, numbers, async (textsIn, numbersIn) => {
        const { rows } = await sql<{ texts: unknown; numbers: unknown }>`
          SELECT ${textArray(textsIn)}::text[] AS texts, ${float8Array(numbersIn)}::float8[] AS numbers
        `.execute(store.db);
        expect(rows).toEqual([{ texts: textsIn, numbers: numbersIn }]);
      }),
      { numRuns: 60 },
    );
  });
});
