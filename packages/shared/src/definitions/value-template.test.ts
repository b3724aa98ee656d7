import { describe, expect, it } from '@jest/globals';
import type { RouteAuth } from './route-auth.ts';
import { parseTemplate, templateProblem, variableProblem } from './value-template.ts';

describe('a value with variables', () => {
  it('is taken apart into constants and variables', () => {
    expect(parseTemplate('/v2')).toEqual({ constants: ['/v2'], variables: [] });
    expect(parseTemplate('')).toEqual({ constants: [''], variables: [] });
    expect(parseTemplate('/{route.name}{path.rest}/{jwt.claims.https://a.example/b.c}')).toEqual({
      constants: ['/', '', '/', ''],
      variables: [
        { name: 'route.name' },
        { name: 'path.rest' },
        { name: 'jwt.claims', claim: 'https://a.example/b.c' },
      ],
    });
  });

  it.each(['request.id', 'route.name', 'token.id', 'client.ip', 'path.rest', 'jwt.claims.a'])(
    'may have {%s}',
    (name) => {
      expect(templateProblem(`a{${name}}b`)).toBeUndefined();
    },
  );

  it.each([
    '{}',
    '{request}',
    '{REQUEST.ID}',
    '{ request.id }',
    '{jwt.claims.}',
    '{jwt.claims}',
    '{request.header.x}',
    '${route.name}}',
    '{{route.name}}',
    '{route.name',
    'route.name}',
    '}{',
    '{toString}',
  ])('is refused with another brace expression: %s', (text) => {
    expect(templateProblem(text)).toMatch(/^must not have .*the variables.* \{request\.id\}, /);
    expect(() => parseTemplate(text)).toThrow();
  });
});

const JWT: RouteAuth = {
  type: 'jwt',
  issuer: 'https://login.example',
  audience: 'api',
  jwks_url: 'https://login.example/keys',
  algorithms: ['RS256'],
  required_claims: { tenant: 'acme' },
};

describe('a variable that may have no value', () => {
  const problem = (text: string, auth: RouteAuth, isPath = true) =>
    variableProblem(parseTemplate(text), auth, isPath);

  it.each<[string, RouteAuth]>([
    ['{jwt.claims.tenant}', { type: 'token' }],
    ['{jwt.claims.tenant}', { type: 'none' }],
    ['{jwt.claims.other}', JWT],
    ['{jwt.claims.toString}', JWT],
    ['{jwt.claims.other}', { ...JWT, required_claims: ['tenant'] }],
  ])('is refused everywhere if it is a claim that is not required: %s', (text, auth) => {
    expect(problem(text, auth)).toContain('auth.required_claims');
    expect(problem(text, auth, false)).toContain('auth.required_claims');
  });

  it('may be a claim that the route requires, with or without values', () => {
    expect(problem('{jwt.claims.tenant}', JWT)).toBeUndefined();
    const named: RouteAuth = { ...JWT, required_claims: ['tenant'] };
    expect(problem('{jwt.claims.tenant}', named)).toBeUndefined();
  });

  it('is refused in a path if no caller has a token', () => {
    expect(problem('{token.id}', { type: 'none' })).toContain('auth.type none');
    expect(problem('{token.id}', JWT)).toContain('auth.type jwt');
    expect(problem('{token.id}', { type: 'none' }, false)).toBeUndefined();
    expect(problem('{token.id}', { type: 'token' })).toBeUndefined();
    expect(problem('{token.id}', { type: 'api_key' })).toBeUndefined();
  });
});
