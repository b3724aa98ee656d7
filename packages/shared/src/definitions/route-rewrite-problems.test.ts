import { describe, expect, it } from '@jest/globals';
import { rewriteField } from './route-rewrite.ts';
import { rewriteProblems } from './route-rewrite-problems.ts';

describe('the rewriting and the rest of its route', () => {
  const wayOf = (...paths: { exact?: string; prefix?: string }[]) => [
    { hosts: ['a.test'], paths, headers: [] },
  ];
  const problems = (rewrite: object, match = wayOf(), type: 'none' | 'token' = 'token') =>
    [...rewriteProblems({ rewrite: rewriteField.parse(rewrite), match, auth: { type } })].map(
      ({ path, message }) => `${path.join('.')} ${message}`,
    );

  it('agree if every path begins with what is stripped', () => {
    const match = wayOf({ prefix: '/api' }, { exact: '/api/x' }, { prefix: '/api/y' });
    expect(problems({ strip_prefix: '/api' }, match)).toEqual([]);
    expect(problems({ add_prefix: '/api' }, [])).toEqual([]);
  });

  it.each([
    [[], 'match'],
    [wayOf(), '/api is none of /'],
    [wayOf({ prefix: '/api' }, { exact: '/apis' }), '/api is none of /apis'],
    [wayOf({ prefix: '/' }), '/api is none of /'],
  ])('do not if more is stripped than there is: %j', (match, message) => {
    const found = problems({ strip_prefix: '/api' }, match);
    expect(found).toEqual([expect.stringContaining(message)]);
    expect(found[0]).toMatch(/^rewrite\.strip_prefix /);
  });

  it('do not if a value can never be there', () => {
    const value = '{jwt.claims.tenant}';
    const pairs = [{ name: 'X-A', value }];
    const rewrite = {
      add_prefix: '/{token.id}',
      query: { set: [{ name: 'a', value }] },
      request_headers: { set: pairs, add: [{ name: 'X-B', value: '{token.id}' }] },
      response_headers: { add: pairs },
    };
    expect(problems(rewrite, [], 'none').map((one) => one.replace(/ .*/, ''))).toEqual([
      'rewrite.add_prefix',
      'rewrite.query.set.0.value',
      'rewrite.request_headers.set.0.value',
      'rewrite.response_headers.add.0.value',
    ]);
  });
});
