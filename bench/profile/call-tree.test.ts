import { describe, expect, it } from '@jest/globals';
import { ownNameOf, sumBy, type CallNode } from './call-tree.ts';

function node(
  functionName: string,
  url: string,
  selfSize: number,
  ...children: readonly CallNode[]
): CallNode {
  return { callFrame: { functionName, url, lineNumber: 4 }, selfSize, children };
}

describe('sumBy', () => {
  it('adds up each function, counts a built-in for its caller, and sorts by bytes', () => {
    const url = 'file:///src/packages/http/src/server/request.ts';
    const head = node(
      '(root)',
      '',
      0,
      node('read', url, 10, node('slice', '', 5), node('parse', url, 40)),
      node('onread', 'node:net', 0, node('read', url, 20)),
      node('(GC)', '', 1),
    );
    expect(sumBy(head, ownNameOf)).toEqual([
      ['parse (http/src/http1/server/request.ts:5)', 40],
      ['read (http/src/http1/server/request.ts:5)', 35],
      ['native code of Node and V8', 1],
    ]);
  });
});
