import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { commandPages } from '../../test/command-pages.ts';

it('the pages of docs/use/gwctl are made of the help; `npm run generate` writes them', async () => {
  const folder = new URL('../../../../docs/use/gwctl/', import.meta.url);
  const written = readdirSync(folder).sort();
  const texts = written.map((file) => [file, readFileSync(new URL(file, folder), 'utf8')]);
  expect(new Map(texts as [string, string][])).toEqual(new Map([...(await commandPages())].sort()));
});
