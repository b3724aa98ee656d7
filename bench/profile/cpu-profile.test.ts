import { describe, expect, it } from '@jest/globals';
import { breakDown, type CpuProfile } from './cpu-profile.ts';

function frame(functionName: string, url = '') {
  return { functionName, url, lineNumber: 0 };
}

const profile: CpuProfile = {
  nodes: [
    { id: 1, callFrame: frame('(root)'), children: [2, 3, 6] },
    { id: 2, callFrame: frame('(idle)') },
    {
      id: 3,
      callFrame: frame('buildRecord', 'file:///src/packages/data-plane/src/pipeline/record.ts'),
      children: [4, 5],
    },
    { id: 4, callFrame: frame('stringify') },
    { id: 5, callFrame: frame('writeLatin1String') },
    { id: 6, callFrame: frame('onHeaders', 'node:_http_common') },
  ],
  samples: [2, 3, 4, 5, 6],
  timeDeltas: [1000, 10, 20, 40, 30],
};

describe('breakDown', () => {
  it('counts a builtin for its caller, a socket write for itself, and idle time not at all', () => {
    expect(breakDown(profile).parts).toEqual([
      { name: 'writes to sockets (system calls)', share: 0.4 },
      { name: 'data plane: pipeline', share: 0.3 },
      { name: 'node:http', share: 0.3 },
    ]);
  });

  it('names the functions with their place', () => {
    const { functions } = breakDown(profile);
    expect(functions[0]).toEqual({ name: 'writeLatin1String', share: 0.4 });
    expect(functions[1]?.name).toBe('onHeaders (node:_http_common:1)');
    expect(functions[3]?.name).toBe('buildRecord (data-plane/src/pipeline/record.ts:1)');
  });
});
