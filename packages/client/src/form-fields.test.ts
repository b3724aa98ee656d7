import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { formFields } from '../test/form-fields.ts';

it('the fields of forms are those of openapi.json; `npm run generate` writes them', () => {
  const committed = readFileSync(new URL('form-fields.json', import.meta.url), 'utf8');
  expect(JSON.parse(committed)).toEqual(formFields());
});
