import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { normalHost, normalPath } from './normal-path.ts';

describe('normalPath', () => {
  it.each([
    ['/', '/'],
    ['/a/b', '/a/b'],
    ['/a/', '/a/'],
    ['//a///b', '/a/b'],
    ['/a/./b/.', '/a/b/'],
    ['/.', '/'],
    ['/%61%2d%7E', '/a-~'],
    ['/a%2fb%3f', '/a%2Fb%3F'],
    ['/a/%2e/b', '/a/b'],
    ['/a/../b', '/a/../b'],
    ['/.well-known/x', '/.well-known/x'],
    ['/a%zz', '/a%zz'],
  ])('%s is %s', (path, normal) => {
    expect(normalPath(path)).toBe(normal);
  });

  it('does not change a path that is in its normal form already', () => {
    const piece = fc.constantFrom('/', '.', 'a', '%41', '%2f', '%2E', '..', '//');
    const paths = fc.array(piece, { maxLength: 10 }).map((pieces) => `/${pieces.join('')}`);
    fc.assert(
      fc.property(paths, (path) => {
        const normal = normalPath(path);
        expect(normalPath(normal)).toBe(normal);
      }),
    );
  });
});

describe('normalHost', () => {
  it.each([
    ['API.example.com', 'api.example.com'],
    ['api.example.com:8443', 'api.example.com'],
    ['api.example.com.', 'api.example.com'],
    ['api.example.com.:80', 'api.example.com'],
    ['[::1]:80', '[::1]'],
    ['[::1]', '[::1]'],
    ['', ''],
  ])('%s is %s', (field, host) => {
    expect(normalHost(field)).toBe(host);
  });
});
