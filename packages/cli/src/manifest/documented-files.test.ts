import { readFileSync } from 'node:fs';
import { applySchema } from '@gateway/control-plane/configuration/apply-document';
import { parseAddressRanges } from '@gateway/shared/net/client-address';
import { expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { readManifest } from './manifest.ts';

const read = (page: string) =>
  readFileSync(new URL(`../../../../docs/use/${page}`, import.meta.url), 'utf8');
const blocks = (page: string) =>
  [...read(page).matchAll(/```yaml\n# (\S+)\n([\s\S]*?)```/g)].map(([, name = '', text = '']) => ({
    name,
    // As an apply replaces references to variables.
    text: text.replaceAll(/\$\{\w+\}/g, 'secret'),
  }));

it.each(['apply.md', 'from-deck.md'])(
  'docs/use/%s shows a file that the gateway accepts',
  (page) => {
    const files = blocks(page).filter(({ name }) => name === 'gateway.yaml');
    expect(files).toHaveLength(1);
    const { items, environment } = readManifest(files);
    const values = (kind: 'services' | 'routes') => items[kind]?.map(({ value }) => value);
    const result = applySchema(parseAddressRanges([])).safeParse({
      environment: environment?.name,
      services: values('services'),
      routes: values('routes'),
    });
    expect(result.error?.issues ?? []).toEqual([]);
    const { services = [], routes = [] } = result.data ?? {};
    expect(routes.map(({ service }) => service)).toEqual(services.map(({ name }) => name));
  },
);

/** Every field that a value has, at any depth. */
function fields(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const names = Array.isArray(value) ? [] : Object.keys(value);
  return [...names, ...Object.values(value).flatMap(fields)];
}

it('docs/use/from-deck.md has a row for every field of its decK file, and for every plugin', () => {
  const [file] = blocks('from-deck.md').filter(({ name }) => name === 'kong.yaml');
  const text = file?.text ?? '';
  const [, table = ''] = read('from-deck.md').split('## Field by field');
  const plugins = [...text.matchAll(/- name: ([\w-]+)\n\s+config:/g)].map(([, name = '']) => name);
  // What the file itself is, not a setting.
  const structure = new Set(['_format_version', 'services', 'routes', 'plugins', 'name', 'config']);
  const settings = fields(parse(text)).filter((field) => !structure.has(field));
  expect(plugins).toHaveLength(3);
  const missing = [...settings, ...plugins].filter((field) => !table.includes(`\`${field}\``));
  expect(missing).toEqual([]);
});
