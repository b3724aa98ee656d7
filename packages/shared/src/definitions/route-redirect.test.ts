import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseLocation, redirectField, redirectProblem } from './route-redirect.ts';

function messageOf(location: string): string | undefined {
  return redirectField.safeParse({ location }).error?.issues[0]?.message;
}

describe('the location of a redirect', () => {
  it.each([
    '/',
    '/new',
    '/{path.rest}',
    '/a?b=c#d',
    '/{route.name}?id={request.id}#{token.id}',
    'https://new.example.com',
    'https://new.example.com?from={path.rest}',
    'http://New.example.com:8080/{path.rest}',
    'https://[2001:db8::1]:8443/a',
    'https://10.0.0.1/{jwt.claims.https://x.test/tenant?}/',
    'https://new.example.com/a?',
  ])('may be %s', (location) => {
    expect(messageOf(location)).toBeUndefined();
    expect(() => parseLocation(location)).not.toThrow();
  });

  it.each([
    ['https://new.example.com{path.rest}', 'slash after the host'],
    ['https://new.example.com:80{path.rest}', 'slash after the host'],
    ['https://new.example.com:{path.rest}', 'must be a path that begins'],
    ['https://{route.name}.example.com/', 'must be a path that begins'],
    ['https://new.example.com@evil.test/', 'must be a path that begins'],
    ['https://a:b@evil.test/', 'must be a path that begins'],
    ['https://new.example.com:99999/', 'must be a path that begins'],
    ['https:///evil.test', 'must be a path that begins'],
    ['//evil.test/', 'must not begin with two slashes'],
    ['/\\evil.test/', 'percent-encoded'],
    ['{path.rest}', 'must be a path that begins'],
    ['javascript:alert(1)', 'must be a path that begins'],
    ['ftp://example.com/', 'must be a path that begins'],
    ['new', 'must be a path that begins'],
    ['', 'must be a path that begins'],
    ['/a b', 'percent-encoded'],
    ['/a\r\nX: y', 'percent-encoded'],
    ['/ä', 'percent-encoded'],
    ['/100%', 'percent-encoded'],
    ['/{path}', 'must not have {path}: the variables are {request.id}'],
    ['/{path.rest', 'brace'],
    [`/${'a'.repeat(2048)}`, 'at most 2048'],
  ])('must not be %j', (location, message) => {
    expect(messageOf(location)).toContain(message);
    if (location.length <= 2048) expect(() => parseLocation(location)).toThrow();
  });

  it('has one host, whatever the variables have, if it is accepted', () => {
    const piece = fc.constantFrom(
      ...[
        'http:',
        'https:',
        '/',
        '//',
        '@',
        ':',
        '?',
        '#',
        '.',
        'a.test',
        '[::1]',
        '80',
        '{path.rest}',
      ],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const location = pieces.join('');
        if (messageOf(location) !== undefined) return;
        const hostWith = (value: string) => {
          const filled = location.replaceAll('{path.rest}', value).replace(/^\/{2,}/, '/');
          return new URL(filled, 'https://own.test').host;
        };
        const hosts = ['', 'x', '.evil.test', '@evil.test', ':1', '/evil.test', '//evil.test'];
        expect(new Set(hosts.map(hostWith)).size).toBe(1);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['{token.id}', { type: 'none' }, 'have no token'],
    ['{jwt.claims.tenant}', { type: 'token' }, 'does not name this claim'],
  ] as const)('may only have %s if callers have it', (variable, auth, message) => {
    const redirect = redirectField.parse({ location: `/${variable}` });
    expect(redirectProblem({ redirect, auth })).toContain(message);
  });
});

it.each([200, 300, 304, 305, 309, '302'])('refuses the status %j of a redirect', (status) => {
  const { error } = redirectField.safeParse({ status, location: '/' });
  expect(error?.issues).toMatchObject([
    { path: ['status'], message: 'must be one of 301, 302, 303, 307, 308' },
  ]);
});
