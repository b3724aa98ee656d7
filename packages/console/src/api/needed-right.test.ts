import { describe, expect, it } from '@jest/globals';
import type { Caller } from './client.ts';
import { rightOf } from './needed-right.ts';

describe('what a token may do', () => {
  const caller = (fields: Partial<Caller>): Caller =>
    ({ effective_scopes: [], routes: ['*'], environments: ['*'], ...fields }) as Caller;

  it('depends on its scopes, all of which are named if they lack', () => {
    const reader = caller({ effective_scopes: ['routes:read'] });
    expect(rightOf(reader, { scope: 'routes:read' })).toEqual({ allowed: true });
    expect(rightOf(reader, { scope: 'routes:write' }).reason).toBe(
      'Your token lacks the scope routes:write.',
    );
    expect(rightOf(reader, { scope: ['a:write', 'routes:read', 'b:write'] }).reason).toBe(
      'Your token lacks the scopes a:write and b:write.',
    );
    expect(rightOf(caller({ effective_scopes: ['*'] }), { scope: ['a', 'b'] }).allowed).toBe(true);
    expect(rightOf(undefined, { scope: 'routes:read' }).allowed).toBe(false);
  });

  it('depends on the routes and environments that it covers, where an operation needs all', () => {
    const some = caller({ effective_scopes: ['*'], routes: ['a'], environments: ['production'] });
    expect(rightOf(some, { scope: 'x' }).allowed).toBe(true);
    expect(rightOf(some, { scope: 'x', allRoutes: true }).reason).toContain('for all routes');
    expect(rightOf(some, { scope: 'x', allEnvironments: true }).reason).toContain(
      'for all environments',
    );
    expect(rightOf(caller({ effective_scopes: ['x'] }), { scope: 'x', allRoutes: true })).toEqual({
      allowed: true,
    });
  });
});
