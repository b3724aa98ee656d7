import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { generateTypes } from '../test/generate-types.ts';

it('the types are those of openapi.json; `npm run generate` writes them', async () => {
  const committed = readFileSync(new URL('generated/api.ts', import.meta.url), 'utf8');
  expect(committed === (await generateTypes())).toBe(true);
});
