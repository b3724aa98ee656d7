import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { ConfigurationRows } from '../store/configuration-rows.ts';
import { compileSnapshot } from './compile.ts';

/**
 * Each `<name>.rows.json` compiles to `<name>.snapshot.json`; the diff of the latter is what to review.
 * They are written anew only where UPDATE_GOLDEN=1 is set.
 */
const folder = new URL('golden/', import.meta.url);
const cases = readdirSync(folder)
  .filter((name) => name.endsWith('.rows.json'))
  .map((name) => name.slice(0, -'.rows.json'.length));

interface GoldenInput {
  readonly now: string;
  readonly version: number;
  readonly rows: ConfigurationRows;
}

function readInput(name: string): GoldenInput {
  return JSON.parse(readFileSync(new URL(`${name}.rows.json`, folder), 'utf8')) as GoldenInput;
}

function compile({ rows, version, now }: GoldenInput) {
  return compileSnapshot(rows, { version, nowMs: Date.parse(now) });
}

describe('the compile of rows to a snapshot', () => {
  it.each(cases)('gives what the golden file %s holds', (name) => {
    const snapshot = compile(readInput(name));
    const golden = new URL(`${name}.snapshot.json`, folder);
    if (process.env['UPDATE_GOLDEN'] === '1') {
      writeFileSync(golden, `${JSON.stringify(snapshot, null, 2)}\n`);
    }
    expect(snapshot).toEqual(JSON.parse(readFileSync(golden, 'utf8')));
  });

  it('gives equal bytes whatever the order in which rows come', () => {
    for (const name of cases) {
      const input = readInput(name);
      const { services, routes, tokens } = input.rows;
      const reversed = {
        ...input.rows,
        services: services.toReversed(),
        routes: routes.toReversed(),
        tokens: tokens.toReversed(),
      };
      expect(JSON.stringify(compile({ ...input, rows: reversed }))).toBe(
        JSON.stringify(compile(input)),
      );
    }
  });

  it('refuses rows that no data plane could read', () => {
    const input = readInput('whole');
    const [service] = input.rows.services;
    if (service === undefined) throw new Error('the golden rows have services');
    const services = [{ ...service, upstreams: [] }];
    expect(() => compile({ ...input, rows: { ...input.rows, services } })).toThrow('upstreams');
  });
});
