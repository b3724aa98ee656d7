import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { UNPACED } from '@gateway/shared/pace';
import { snapshotSchema } from '@gateway/shared/snapshot/schema';
import type { ConfigurationRows } from '../store/configuration/configuration-rows.ts';
import { compileSnapshot } from './compile.ts';

/**
 * Each `<name>.rows.json` compiles to `<name>.snapshot.json`. UPDATE_GOLDEN=1 writes the snapshots again;
 * review their diff.
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

function compile({ rows, version, now }: GoldenInput): Promise<string> {
  return compileSnapshot(rows, { version, nowMs: Date.parse(now) }, UNPACED);
}

describe('the compilation of rows to a snapshot', () => {
  it.each(cases)('matches the golden file %s', async (name) => {
    const snapshot = JSON.parse(await compile(readInput(name))) as unknown;
    const golden = new URL(`${name}.snapshot.json`, folder);
    if (process.env['UPDATE_GOLDEN'] === '1') {
      writeFileSync(golden, `${JSON.stringify(snapshot, null, 2)}\n`);
    }
    expect(snapshot).toEqual(JSON.parse(readFileSync(golden, 'utf8')));
    expect(snapshotSchema.parse(snapshot)).toEqual(snapshot);
  });

  it('does not depend on the order of the rows', async () => {
    for (const name of cases) {
      const input = readInput(name);
      const { services, routes, tokens } = input.rows;
      const reversed = {
        ...input.rows,
        services: services.toReversed(),
        routes: routes.toReversed(),
        tokens: tokens.toReversed(),
      };
      expect(await compile({ ...input, rows: reversed })).toBe(await compile(input));
    }
  });

  it('refuses rows that do not fit the schema of data planes', async () => {
    const input = readInput('whole');
    const [service] = input.rows.services;
    if (service === undefined) throw new Error('the golden rows have no service');
    const services = [{ ...service, upstreams: [] }];
    const broken = { ...input, rows: { ...input.rows, services } };
    await expect(compile(broken)).rejects.toThrow('upstreams');
  });
});
