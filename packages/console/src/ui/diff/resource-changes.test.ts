import { describe, expect, it } from '@jest/globals';
import { resourceChanges } from './resource-changes.ts';

const removed = (text: string) => ({ kind: 'removed', text });
const added = (text: string) => ({ kind: 'added', text });
const same = (text: string) => ({ kind: 'same', text });

describe('the changes of a resource', () => {
  it('are the fields that differ, without what changes with every change', () => {
    const before = {
      id: 'rte_1',
      revision: 1,
      timeout_ms: 10_000,
      retry: { backoff_ms: 25, n: 1 },
    };
    const after = { id: 'rte_1', revision: 2, timeout_ms: 5000, retry: { backoff_ms: 50, n: 1 } };
    expect(resourceChanges(before, after)).toEqual([
      { path: 'timeout_ms', lines: [removed('10000'), added('5000')] },
      { path: 'retry.backoff_ms', lines: [removed('25'), added('50')] },
    ]);
  });

  it('show the items of a list that differ, beside those that stay', () => {
    const upstream = (url: string, weight: number) => ({ url, weight, region: null });
    const before = {
      url: 'http://a',
      upstreams: [upstream('http://a', 1), upstream('http://b', 1)],
    };
    const after = {
      url: 'http://a',
      upstreams: [upstream('http://a', 1), upstream('http://b', 3)],
    };
    expect(resourceChanges(before, after)).toEqual([
      {
        path: 'upstreams',
        lines: [
          removed('url http://b, weight 1'),
          same('url http://a, weight 1'),
          added('url http://b, weight 3'),
        ],
      },
    ]);
  });

  it('show another order, and what was set or removed', () => {
    expect(resourceChanges({ a: [{ n: 1 }, { n: 2 }] }, { a: [{ n: 2 }, { n: 1 }] })).toEqual([
      { path: 'a', lines: [removed('n 1'), removed('n 2'), added('n 2'), added('n 1')] },
    ]);
    expect(resourceChanges({ tls: null }, { tls: { server_name: 'x', ca_pem: null } })).toEqual([
      { path: 'tls.server_name', lines: [added('x')] },
    ]);
  });

  it('of a new or a deleted resource are all that was set', () => {
    const route = { name: 'charges', methods: ['GET', 'POST'], versions: null };
    expect(resourceChanges(null, route)).toEqual([
      { path: 'name', lines: [added('charges')] },
      { path: 'methods', lines: [added('GET, POST')] },
    ]);
    expect(resourceChanges(route, null)).toHaveLength(2);
    expect(resourceChanges(route, route)).toEqual([]);
  });
});
