import { describe, expect, it } from '@jest/globals';
import { formatFaultTable, mergeFaultTable } from './fault-table.ts';
import type { FaultRow } from './scenario.ts';

const row = (fault: string, requests: number): FaultRow => ({
  fault,
  requests,
  lastedSeconds: 60,
  failed: 0,
  keysRefused: 0,
  recordsLost: 0,
  recoverySeconds: 1.23,
});
const order = ['a', 'b', 'c'];

describe('the table of faults', () => {
  it('replaces old rows by new ones, in the order of the faults', () => {
    const before = formatFaultTable([row('c', 1), row('a', 2), row('gone', 3)]);
    const merged = mergeFaultTable(before, [row('b', 12_345), row('c', 4)], order);
    expect(merged).toBe(formatFaultTable([row('a', 2), row('b', 12_345), row('c', 4)]));
  });

  it('is created if there was none', () => {
    expect(mergeFaultTable('', [row('a', 1)], order)).toBe(formatFaultTable([row('a', 1)]));
  });
});
