import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { fieldPages } from './field-pages.ts';
import { allFields, fieldsInTables, withFieldTables } from './field-tables.ts';

/** Fields of which more is to say than a row: their pages have a section, or a table that is written by hand. */
const DESCRIBED_IN_TEXT = [
  /^route\.(name|service_id|versions|auth|regions|access_log\..*)$/,
  /^service\.(name|url|upstreams|credential|tls\..*)$/,
];

const texts = fieldPages().map((page) => readFileSync(page, 'utf8'));

it('the tables of docs/use/policies are those of the API; `npm run generate` writes them', () => {
  for (const text of texts) expect(withFieldTables(text)).toBe(text);
});

it('every field of a route and of a service is described', () => {
  const shown = new Set(texts.flatMap(fieldsInTables));
  expect(shown.size).toBeGreaterThan(20);
  const missing = allFields().filter(
    (path) => !shown.has(path) && !DESCRIBED_IN_TEXT.some((one) => one.test(path)),
  );
  expect(missing).toEqual([]);
});
