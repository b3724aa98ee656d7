import { describe, expect, it } from '@jest/globals';
import { parseProxyTarget, splitTarget, upstreamPath } from './proxy-path.ts';

describe('splitTarget', () => {
  it.each([
    ['/v1/proxy/a?x=1?y', '/v1/proxy/a', '?x=1?y'],
    ['/v1/proxy/a', '/v1/proxy/a', ''],
    ['http://gateway:8080/v1/proxy/a?x', '/v1/proxy/a', '?x'],
    ['HTTP://gateway', '/', ''],
    ['http://gateway?x', '/', '?x'],
    ['*', '*', ''],
  ])('%s', (target, path, query) => {
    expect(splitTarget(target)).toEqual({ path, query });
  });
});

describe('parseProxyTarget', () => {
  it.each([
    ['/v1/proxy/pay', 'pay', ''],
    ['/v1/proxy/pay/', 'pay', '/'],
    ['/v1/proxy/pay/a//b', 'pay', '/a//b'],
    ['/v1/proxy/', '', ''],
  ])('%s', (path, routeName, subPath) => {
    expect(parseProxyTarget(path, '')).toMatchObject({ routeName, subPath });
  });
});

describe('upstreamPath', () => {
  it('appends the sub-path and the query to the base', () => {
    expect(upstreamPath('', { subPath: '', query: '' })).toBe('/');
    expect(upstreamPath('', { subPath: '', query: '?a' })).toBe('/?a');
    expect(upstreamPath('/base', { subPath: '/x', query: '?a=1' })).toBe('/base/x?a=1');
    expect(upstreamPath('/base', { subPath: '', query: '' })).toBe('/base');
  });
});
