import { readdirSync, readFileSync } from 'node:fs';
import { applySchema } from '@gateway/control-plane/configuration/apply-document';
import { parseAddressRanges } from '@gateway/shared/net/client-address';
import { fuzzSettings, openFuzz } from '@gateway/shared/test/fuzz';
import { expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { parse, stringify } from 'yaml';
import { FailedError } from '../program/exit-codes.ts';
import { convertSource, type Format } from './convert-source.ts';

type Input = readonly [format: Format, text: string, host: string | null];

const folder = new URL('../../test/convert/', import.meta.url);
const files = readdirSync(folder)
  .filter((name) => /^shop\./.test(name))
  .map((name): [Format, string] => {
    return [name.split('.')[1] as Format, readFileSync(new URL(name, folder), 'utf8')];
  });
const textOf = (wanted: Format) => files.find(([format]) => format === wanted)?.[1] ?? '';

/** Values that the tools have in these files, and others. */
const values = fc.oneof(
  fc.constantFrom<unknown>(
    ...[
      '',
      '/',
      '/a',
      '/a/',
      '/a/*',
      '*',
      '/a/../b',
      '/%41',
      '~/a',
      '*.a.example',
      'a.example:80',
      'A.b',
    ],
    ...[
      'http://a.example',
      'http://u:p@a.example/x?y',
      'https://[::1]:1',
      '${A}',
      '{a}',
      'null',
      '[a]:1',
    ],
    ...[0, -1, 1, 2.5, 1e21, 70_000, true, false, null, 'jwt', 'cors', 'redirect', 'x:y', 'a:b:c'],
    ...[
      'request-termination',
      'X-Y',
      'ip',
      'preserve',
      'GET',
      'CONNECT',
      'https',
      '__proto__',
      '\n# a',
    ],
  ),
  fc.jsonValue({ maxDepth: 2 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
);

/** A file in which some values, found by their number, are others. */
function mutated(text: string, changes: readonly (readonly [number, unknown])[]): string {
  const root: unknown = parse(text);
  const holders: [object, string][] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, item] of Object.entries(value)) {
      holders.push([value, key]);
      visit(item);
    }
  };
  visit(root);
  for (const [at, value] of changes) {
    const [holder, key] = holders[at % holders.length] ?? [{}, ''];
    Object.defineProperty(holder, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return stringify(root);
}

const yamlInput = fc
  .tuple(
    fc.constantFrom<Format>('kong', 'apisix'),
    fc.array(fc.tuple(fc.nat(5000), values), { minLength: 1, maxLength: 4 }),
  )
  .map(([format, changes]): [Format, string] => [format, mutated(textOf(format), changes)]);

const words = textOf('nginx').split(/(?<=[\s;{}])/);
const nginxInput = fc
  .array(
    fc.tuple(
      fc.nat(words.length),
      fc.constantFrom(...words, ...Array.from('{};#"\'\\$ ~=@/'), '/a/', 'off', 'all'),
    ),
    {
      minLength: 1,
      maxLength: 5,
    },
  )
  .map((changes): [Format, string] => {
    const text = [...words];
    for (const [at, word] of changes) text.splice(at, at % 2, word);
    return ['nginx', text.join('')];
  });

const textInput = fc.tuple(
  fc.constantFrom<Format>('kong', 'nginx', 'apisix'),
  fc.string({ unit: 'binary', maxLength: 200 }),
);

const input = fc
  .tuple(fc.oneof(yamlInput, nginxInput, textInput), fc.constantFrom('api.example.com', null))
  .map(([[format, text], host]): Input => [format, text, host]);

const schema = applySchema(parseAddressRanges([]));
const fuzz = openFuzz<Input>(new URL('any-input.kept.json', import.meta.url), 300);

it('any file is refused with its place, or becomes one that the gateway accepts', () => {
  fc.assert(
    fc.property(input, ([format, text, host]) => {
      let yaml: string;
      try {
        const hosts = host === null ? [] : [host];
        ({ yaml } = convertSource(format, { name: 'file', text }, { hosts }));
      } catch (error) {
        expect(error).toBeInstanceOf(FailedError);
        expect((error as Error).message).toMatch(/^file(:\d+:\d+)?: /);
        return;
      }
      const { error } = schema.safeParse(parse(yaml));
      expect(error?.issues ?? []).toEqual([]);
    }),
    fuzzSettings(fuzz),
  );
});
