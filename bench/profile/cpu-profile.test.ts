import { describe, expect, it } from '@jest/globals';
import { breakDown, type CpuProfile } from './cpu-profile.ts';

function frame(functionName: string, url = '') {
  return { functionName, url, lineNumber: 0 };
}

const profile: CpuProfile = {
  nodes: [
    { id: 1, callFrame: frame('(root)'), children: [2, 3, 6, 7] },
    { id: 2, callFrame: frame('(idle)') },
    {
      id: 3,
      callFrame: frame('buildRecord', 'file:///src/packages/data-plane/src/request/record.ts'),
      children: [4, 5],
    },
    { id: 4, callFrame: frame('stringify') },
    { id: 5, callFrame: frame('writeLatin1String') },
    { id: 6, callFrame: frame('onHeaders', 'node:_http_common') },
    { id: 7, callFrame: frame('write', 'node:fs'), children: [8] },
    { id: 8, callFrame: frame('writeBuffer') },
  ],
  samples: [2, 3, 4, 5, 6, 8],
  timeDeltas: [1000, 5, 15, 40, 30, 10],
};

describe('breakDown', () => {
  it('counts a built-in for its caller, a write for its target, and leaves idle time out', () => {
    expect(breakDown(profile).parts).toEqual([
      { name: 'socket writes (system calls)', share: 0.4 },
      { name: 'node:http', share: 0.3 },
      { name: 'data plane: request', share: 0.2 },
      { name: 'log writes', share: 0.1 },
    ]);
  });

  it('names each function with its file and line', () => {
    const { functions } = breakDown(profile);
    expect(functions[0]).toEqual({ name: 'writeLatin1String', share: 0.4 });
    expect(functions[1]?.name).toBe('onHeaders (node:_http_common:1)');
    expect(functions[4]?.name).toBe('buildRecord (data-plane/src/request/record.ts:1)');
  });
});
