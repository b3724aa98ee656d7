import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';

const root = fileURLToPath(new URL('..', import.meta.url));
const names = z.record(z.string(), z.unknown());
const lockfile = z.object({
  importers: z.record(z.string(), z.record(z.string(), names)),
  packages: z.record(z.string(), z.object({ resolution: z.record(z.string(), z.unknown()) })),
});
const { importers, packages } = lockfile.parse(
  parse(readFileSync(path.join(root, 'pnpm-lock.yaml'), 'utf8')),
);

const nameOf = (id: string) => id.slice(0, id.lastIndexOf('@'));

describe('the lockfile', () => {
  it('has no package that ours depend on in three versions', () => {
    const ours = new Set(
      Object.values(importers).flatMap((one) => Object.values(one).flatMap(Object.keys)),
    );
    const versions = Map.groupBy(Object.keys(packages), nameOf);
    const many = [...versions].filter(([name, ids]) => ours.has(name) && ids.length > 2);
    expect(many).toEqual([]);
  });

  it('has a hash of every package, and none from anywhere but the registry', () => {
    const others = Object.entries(packages).filter(
      ([, { resolution }]) => Object.keys(resolution).join() !== 'integrity',
    );
    expect(others).toEqual([]);
  });
});
