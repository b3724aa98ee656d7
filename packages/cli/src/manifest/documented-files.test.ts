import { readFileSync } from 'node:fs';
import { applySchema } from '@gateway/control-plane/configuration/apply-document';
import { parseAddressRanges } from '@gateway/shared/net/client-address';
import { expect, it } from '@jest/globals';
import { convertSource } from '../convert/convert-source.ts';
import { readManifest } from './manifest.ts';

const read = (page: string) =>
  readFileSync(new URL(`../../../../docs/use/${page}`, import.meta.url), 'utf8');
const blocks = (page: string) =>
  [...read(page).matchAll(/```yaml\n# (\S+)\n([\s\S]*?)```/g)].map(([, name = '', text = '']) => ({
    name,
    // As an apply replaces references to variables.
    text: text.replaceAll(/\$\{\w+\}/g, 'secret'),
  }));

it.each(['apply.md', 'moving-in.md'])(
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

it('docs/use/moving-in.md shows what gwctl convert makes of the file before', () => {
  const [kong, made] = blocks('moving-in.md');
  const source = { name: 'kong.yaml', text: `# kong.yaml\n${kong?.text ?? ''}` };
  const { yaml } = convertSource('kong', source, { hosts: [] });
  expect(yaml).toBe(made?.text);
});
