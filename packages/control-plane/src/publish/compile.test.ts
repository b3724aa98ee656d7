import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { UNPACED } from '@gateway/shared/pace';
import { snapshotSchema, type Snapshot } from '@gateway/shared/snapshot/schema';
import type { ConfigurationRows } from '../configuration/store/configuration-rows.ts';
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

function compile(
  { rows, version, now }: GoldenInput,
  reservedHosts: readonly string[] = [],
): Promise<string> {
  const options = { version, nowMs: Date.parse(now), reservedHosts };
  return compileSnapshot(rows, options, UNPACED);
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

  it('leaves out hosts that are reserved, and ways that have no other', async () => {
    const { rows, ...input } = readInput('fixed-answers');
    const hosts = ['gateway.test', '*.test', 'api.example.com'];
    const match = [
      { hosts, paths: [], headers: [] },
      { hosts: ['gateway.test'], paths: [], headers: [] },
      { hosts: [], paths: [{ prefix: '/a' }], headers: [] },
    ];
    const routes = rows.routes.map((route) => ({ ...route, match }));
    const text = await compile({ ...input, rows: { ...rows, routes } }, ['gateway.test']);
    for (const route of (JSON.parse(text) as Snapshot).routes) {
      expect(route.match).toEqual([{ ...match[0], hosts: ['api.example.com'] }, match[2]]);
    }
    const odd = [{ hosts, paths: [{ future: '/a' }], headers: [] }] as unknown as typeof match;
    const unreadable = rows.routes.map((route) => ({ ...route, match: odd }));
    const others = await compile({ ...input, rows: { ...rows, routes: unreadable } }, ['x.test']);
    expect(others).toBe(await compile({ ...input, rows: { ...rows, routes: unreadable } }));
  });

  it('has only what names a row that does not fit the schema of data planes, and the others whole', async () => {
    const { rows: ofTokens, now } = readInput('tokens');
    const { rows: others, version } = readInput('whole');
    const input = { version, now, rows: { ...others, tokens: ofTokens.tokens } };
    const whole = JSON.parse(await compile(input)) as Snapshot;
    const invalid = {
      services: { upstreams: [] },
      routes: { timeout_ms: -1 },
      tokens: { scopes: null },
    };
    const kinds = ['services', 'routes', 'tokens'] as const;
    const broken = kinds.map((kind) => {
      const [first] = whole[kind];
      const rows = input.rows[kind] as readonly { readonly id: string }[];
      return [kind, rows.map((row) => (row.id === first?.id ? { ...row, ...invalid[kind] } : row))];
    });
    const rows = { ...input.rows, ...Object.fromEntries(broken) } as ConfigurationRows;
    const compiled = JSON.parse(await compile({ ...input, rows })) as Record<
      'services' | 'routes' | 'tokens',
      { readonly id?: string; readonly unusable?: string }[]
    >;
    for (const kind of kinds) {
      const [first] = whole[kind];
      const { unusable, ...rest } = compiled[kind].find(({ id }) => id === first?.id) ?? {};
      expect(unusable).toContain(Object.keys(invalid[kind])[0]);
      const { id, name, auth } = { id: '', name: undefined, auth: undefined, ...first };
      expect(rest).toEqual({ id, ...(name && { name }), ...(auth && { auth }) });
      const isOther = (one: { readonly id?: string }) => one.id !== id;
      expect(compiled[kind].filter(isOther)).toEqual(whole[kind].filter(isOther));
    }
  });
});
