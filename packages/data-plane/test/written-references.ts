import fc from 'fast-check';

const words = (text: string) => fc.constantFrom(...text.split(' '));

const segment = fc.oneof(
  words('a api v1 proxy test . .. %2e %2E. x@y x:y ;p %61pi caf\xe9'),
  fc.constantFrom('', 'a b', '\t'),
);
const path = fc
  .array(fc.tuple(fc.constantFrom('/', '/', '/', '/', '\\'), segment), { maxLength: 5 })
  .map((parts) => parts.flat().join(''));
const tail = fc.constantFrom('', '', '?', '?q=/../&u=http://{up}/', '#', '#f?/..', '?a#b');
const space = fc.constantFrom('', '', '', ' ', '\t');
const origin = fc.oneof(
  { weight: 3, arbitrary: fc.constant('') },
  {
    weight: 3,
    arbitrary: words('http://{up} HTTP://{up} https://{up} //{up} /\\{up} http://u:p@{up}'),
  },
  { weight: 3, arbitrary: words('http://gw.test https://gw.test //gw.test http://gw.test:8080') },
  { weight: 2, arbitrary: words('http://other.test http://other.test:80 http://%6Fther.test') },
  {
    weight: 2,
    arbitrary: words('http:/ http: https: http://elsewhere.test //elsewhere.test mailto:'),
  },
);

/** References as an upstream may write them, in which `{up}` is its host and port. */
export const writtenReference: fc.Arbitrary<string> = fc
  .tuple(space, origin, path, tail, space)
  .map((parts) => parts.join(''));

/** A reference as its reader resolves it; bytes beyond ASCII stand for themselves. */
export function resolved(reference: string, base: string): URL | null {
  const escaped = reference.replaceAll(
    /[\x80-\xff]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return URL.parse(escaped, base);
}
