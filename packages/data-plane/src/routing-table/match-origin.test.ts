import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { corsField } from '@gateway/shared/definitions/route-cors';
import { fuzzSettings, openFuzz } from '@gateway/shared/test/fuzz';
import { originMatcher } from './match-origin.ts';

type Case = [allowed: string, sent: string];

const fuzz = openFuzz<Case>(new URL('match-origin.kept.json', import.meta.url), 3000);

/** The same by the parts of a URL, written without looking at the code. */
function isCovered(allowed: string, sent: string): boolean {
  if (allowed === '*') return true;
  if (!allowed.includes('*')) return allowed === sent;
  const model = new URL(allowed.replace('*', 'star'));
  if (!URL.canParse(sent)) return false;
  const page = new URL(sent);
  // A browser sends an origin in one form only.
  if (page.origin !== sent) return false;
  const labels = page.hostname.split('.');
  if (!labels.every((one) => /^[\w-]+$/.test(one))) return false;
  const below = model.hostname.split('.').slice(1);
  if (
    labels.length <= below.length ||
    below.some((one, at) => one !== labels.at(at - below.length))
  )
    return false;
  return page.protocol === model.protocol && page.port === model.port;
}

const label = fc.constantFrom(
  'a',
  'app',
  'example',
  'evilexample',
  'com',
  'net',
  'evil',
  'x-1',
  'a_b',
  'localhost',
);
const name = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'));
const scheme = fc.constantFrom('https', 'http');
const port = fc.constantFrom('', '', ':8443', ':443', ':80', ':3000');
const allowed = fc
  .tuple(scheme, fc.constantFrom('', '*.'), name, port)
  .map(([protocol, star, host, number]) => `${protocol}://${star}${host}${number}`)
  .filter((origin) => corsField.safeParse({ origins: [origin] }).success);
const junk = fc.constantFrom('', '.', '/', '..', '@', '#', '?', ':', ', ', '%2e', '\\', 'x');

/** Origins that are like the allowed one, with parts around and within it. */
function near(origin: string): fc.Arbitrary<string> {
  const host = origin.slice(origin.indexOf('://') + 3).replace('*.', '');
  return fc.oneof(
    fc
      .tuple(scheme, junk, label, junk, fc.constant(host), junk, label)
      .map(([protocol, ...parts]) => `${protocol}://${parts.join('')}`),
    fc.tuple(scheme, name).map(([protocol, sub]) => `${protocol}://${sub}.${host}`),
    fc
      .tuple(scheme, name, port)
      .map(([protocol, other, number]) => `${protocol}://${other}${number}`),
    fc.constantFrom(
      origin,
      origin.toUpperCase(),
      `${origin}.`,
      `${origin}/`,
      origin.replace('*.', 'sub.'),
      origin.replace('*.', 'A.'),
    ),
  );
}

describe('an origin', () => {
  it('is allowed only if it is one that is listed, or below a wildcard', () => {
    const any = allowed.chain((origin) => fc.tuple(fc.constant(origin), near(origin)));
    fc.assert(
      fc.property(any, ([one, sent]: Case) => {
        expect(originMatcher([one])(sent) !== undefined).toBe(isCovered(one, sent));
      }),
      fuzzSettings(fuzz),
    );
  });

  it('is looked up in all that are listed', () => {
    const match = originMatcher(['https://a.test', 'https://*.b.test', 'capacitor://localhost']);
    expect(match('https://a.test')).toBe('https://a.test');
    expect(match('https://x.y.b.test')).toBe('https://*.b.test');
    expect(match('capacitor://localhost')).toBe('capacitor://localhost');
    expect(match('https://b.test')).toBeUndefined();
  });
});
