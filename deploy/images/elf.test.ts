import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { runOrThrow } from '@gateway/tools/process/run-command';
import { expect, it } from '@jest/globals';
import { neededBy } from './elf.ts';

it('finds the libraries and the loader that ldd finds', async () => {
  const { loader, libraries } = neededBy(await readFile(process.execPath));
  const output = await runOrThrow('ldd', [process.execPath], { timeoutMs: 20_000 });
  // ldd also lists the libraries of libraries, and what the kernel adds.
  const found = [...output.matchAll(/^\s+(\S+) => (\S+) \(/gm)];
  const listed = new Map(found.map(([, name = '', file = '']) => [name, file]));
  const all = new Set(libraries);
  for (const name of all) {
    const file = listed.get(name);
    if (file === undefined) continue;
    for (const more of neededBy(await readFile(file)).libraries) all.add(more);
  }
  const known = [...all].filter((name) => name !== path.basename(loader ?? ''));
  expect(known.toSorted()).toEqual([...listed.keys()].toSorted());
  expect(output).toContain(`${loader} (`);
});

it('refuses what is no ELF file', () => {
  expect(() => neededBy(Buffer.from('#!/bin/sh\n'))).toThrow('not an ELF file');
});
