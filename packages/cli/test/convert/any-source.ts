import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { parse, stringify } from 'yaml';
import type { Format } from '../../src/convert/convert-source.ts';

/** A file to convert, and the host of its routes that name none. */
export type Source = readonly [format: Format, text: string, host: string | null];

const textOf = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');
const FILES = {
  kong: textOf('shop.kong.yaml'),
  nginx: textOf('shop.nginx.conf'),
  apisix: textOf('shop.apisix.yaml'),
};

const long = (start: string, length: number) => start.padEnd(length, 'a');

/** Values at which the rules of the API begin: of each field one that it just takes, and one that it just refuses. */
const BOUNDS = [
  ...[long('/', 1024), long('/', 1025), long('a', 63), long('a', 64), long('X-', 128)],
  ...[long('X-', 129), long('http://', 2100), long(long('a', 63) + '.b', 254), long('a', 300)],
  ...[long('X-Y:', 1028), long('X-Y:', 1029), long('text/', 256), long('text/', 257)],
  ...[long('M', 32), long('M', 33), long('https://a.example/', 2048), long('b', 65_537)],
  ...['/..;a', '/a/%2E%2E/b', '/a%2Fb', '/a%2F..%2Fb', '/%C0%AE%C0%AE/', '/a%00', '/%20../'],
  ...['http://a.example:0', 'http://a.example:65536', 'grpc-timeout:5S', 'gRPC_Timeout'],
  ...[300, 301, 86_400, 86_401, 300_000, 300_001, 1024 ** 3, 1024 ** 3 + 1, 2 ** 53, 1e300],
  ...[0.001, -0.5, 199, 200, 206, 599, 600, 65_536],
];

/** Values that the tools have in these files, and others. */
const WORDS = [
  ...['', '/', '/a', '/a/', '/a/*', '*', '/a/../b', '/%41', '~/a', '*.a.example', 'a.example:80'],
  ...['A.b', 'http://a.example', 'http://u:p@a.example/x?y', 'https://[::1]:1', '${A}', '{a}'],
  ...['null', '[a]:1', 0, -1, 1, 2.5, 1e21, 70_000, true, false, null, 'jwt', 'cors', 'redirect'],
  ...['x:y', 'a:b:c', 'request-termination', 'X-Y', 'ip', 'preserve', 'GET', 'CONNECT', 'https'],
  ...['__proto__', '\n# a'],
];

const values = fc.oneof(
  fc.constantFrom<unknown>(...WORDS),
  fc.constantFrom<unknown>(...BOUNDS),
  fc.jsonValue({ maxDepth: 2 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
);

/** What becomes of one value of a file. */
type Change =
  | { readonly kind: 'other'; readonly value: unknown }
  /** A list or an object with so many items like its last one; `isSame`: they are the same. */
  | { readonly kind: 'more'; readonly count: number; readonly isSame: boolean };

const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('other' as const), value: values }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('more' as const),
      count: fc.constantFrom(1, 2, 8, 9, 16, 17, 32, 33, 64, 65),
      isSame: fc.boolean(),
    }),
  },
);

/** The same with other texts, or with other names of its fields if it has none: `X-Team:shop` becomes `X-Team7:shop`. */
function variant(item: unknown, number: number): unknown {
  if (typeof item === 'string') return item.replace(/^[A-Za-z/.-]*[A-Za-z/]/, `$&${number}`);
  if (typeof item === 'number') return item + number;
  if (Array.isArray(item)) return item.map((one: unknown) => variant(one, number));
  if (typeof item !== 'object' || item === null) return item;
  return Object.fromEntries(
    Object.entries(item).map(([name, value]) => [name, variant(value, number)]),
  );
}

function changed(before: unknown, change: Change): unknown {
  if (change.kind === 'other') return change.value;
  const { count, isSame } = change;
  const numbers = Array.from({ length: count }, (_none, index) => index);
  if (Array.isArray(before)) {
    const items = before as readonly unknown[];
    const last = items.at(-1);
    return [...items, ...numbers.map((number) => (isSame ? last : variant(last, number)))];
  }
  if (typeof before !== 'object' || before === null) return variant(before, count);
  const [name = 'a', value] = Object.entries<unknown>({ ...before }).at(-1) ?? [];
  const more = numbers.map((number) => [
    isSame && number === 0 ? name.toUpperCase() : String(variant(name, number)),
    value,
  ]);
  return { ...before, ...(Object.fromEntries(more) as object) };
}

/** A file in which some values, found by their number, are others. */
function mutated(text: string, changes: readonly (readonly [number, Change])[]): string {
  const root: unknown = parse(text);
  for (const [at, how] of changes) {
    const holders: [object, string][] = [];
    const visit = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      for (const [key, item] of Object.entries(value)) {
        holders.push([value, key]);
        visit(item);
      }
    };
    visit(root);
    const [holder, key] = holders[at % holders.length] ?? [{}, ''];
    Object.defineProperty(holder, key, {
      value: changed((holder as Readonly<Record<string, unknown>>)[key], how),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  // An anchor for what stands in it twice would be a fault of the file.
  return stringify(root, { aliasDuplicateObjects: false });
}

const yamlSource = fc
  .tuple(
    fc.constantFrom<'kong' | 'apisix'>('kong', 'apisix'),
    fc.array(fc.tuple(fc.nat(5000), change), { minLength: 1, maxLength: 4 }),
  )
  .map(([format, changes]): [Format, string] => [format, mutated(FILES[format], changes)]);

const NGINX_LINES = FILES.nginx.split('\n');
const NGINX_WORDS = FILES.nginx.split(/(?<=[\s;{}])/);
/** Settings that the file does not have, or has at other values. */
const NGINX_SETTINGS = [
  ...['proxy_next_upstream http_500 http_502 http_500 non_idempotent;', 'default_type a/b;'],
  ...['proxy_set_header grpc-timeout 5S;', 'hash $http_x_a;', 'proxy_pass http://orders/..;'],
  ...['limit_req_zone $server_name zone=perip:1m rate=99999999999r/s;', 'return 200 a;'],
  ...['proxy_next_upstream_tries 99;', 'client_max_body_size 99g;', 'proxy_read_timeout 99d;'],
  ...['limit_except GET GET POST { deny all; }', 'proxy_hide_header X-A;', 'satisfy any;'],
  ...[`hash $http_${long('a', 130)};`, `default_type ${long('text/', 260)};`],
  ...[`rewrite ^/cut/(.*)$ ${long('/', 1100)}/$1 break;`, 'server_name *.a.example .b.example;'],
];

const nginxChange = fc.oneof(
  fc.record({
    at: fc.nat(NGINX_WORDS.length),
    word: fc.oneof(
      fc.constantFrom(...NGINX_WORDS, ...Array.from('{};#"\'\\$ ~=@/'), '/a/', 'off', 'all'),
      fc.constantFrom(...BOUNDS.map(String), ...NGINX_SETTINGS),
    ),
  }),
  // Lines like one of the file.
  fc.record({
    at: fc.nat(NGINX_WORDS.length),
    line: fc.oneof(fc.constantFrom(...NGINX_LINES), fc.constantFrom(...NGINX_SETTINGS)),
    count: fc.constantFrom(2, 17, 33, 65),
  }),
);

const nginxSource = fc
  .array(nginxChange, { minLength: 1, maxLength: 5 })
  .map((changes): [Format, string] => {
    const text = [...NGINX_WORDS];
    for (const one of changes) {
      if ('word' in one) text.splice(one.at, one.at % 2, one.word);
      else {
        const { at, line, count } = one;
        const lines = Array.from({ length: count }, (_none, number) =>
          line.replace(/(\S+ +[A-Za-z/.=-]*[A-Za-z/])/, `$1${number}`),
        );
        text.splice(at, 0, `\n${lines.join('\n')}\n`);
      }
    }
    return ['nginx', text.join('')];
  });

const textSource = fc.tuple(
  fc.constantFrom<Format>('kong', 'nginx', 'apisix'),
  fc.string({ unit: 'binary', maxLength: 200 }),
);

/** A file of one of the tools with some faults and extremes, or any text. */
export const anySource: fc.Arbitrary<Source> = fc
  .tuple(
    fc.oneof(
      { weight: 3, arbitrary: yamlSource },
      { weight: 3, arbitrary: nginxSource },
      { weight: 1, arbitrary: textSource },
    ),
    fc.constantFrom('api.example.com', null),
  )
  .map(([[format, text], host]): Source => [format, text, host]);
