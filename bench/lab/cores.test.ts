import { describe, expect, it } from '@jest/globals';
import { parseCoreList, splitCores } from './cores.ts';

describe('splitCores', () => {
  it('gives what is measured a core that the load never uses', () => {
    expect(splitCores([0, 1, 2, 5])).toEqual({
      measured: 5,
      load: '0,1,2',
      all: [0, 1, 2, 5],
    });
  });

  it('refuses a machine with one core', () => {
    expect(() => splitCores([0])).toThrow('two cores');
  });
});

describe('parseCoreList', () => {
  it("reads the kernel's ranges and single cores", () => {
    expect(parseCoreList('0-2,5,7-8')).toEqual([0, 1, 2, 5, 7, 8]);
  });
});
