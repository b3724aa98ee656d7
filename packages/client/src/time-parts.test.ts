import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anyRecord } from '@gateway/shared/test/any-record';
import { timeParts } from './time-parts.ts';

it('shows a back-off as a wait, not as time of the upstream', () => {
  const timing = {
    gateway_ms: 2.3,
    receiving_ms: 0,
    waiting_ms: 76.2,
    upstream_ms: 4.9,
    sending_ms: 3.9,
    total_ms: 87.3,
  };
  const waits = { key_ms: 0, quota_ms: 0, connection_ms: 0.2, retry_ms: 76 };
  expect(timeParts({ timing, waits })).toEqual([
    { name: 'gateway', ms: 2.3, of: 'gateway' },
    { name: 'waiting for a connection', ms: 0.2, of: 'wait' },
    { name: 'waiting before a retry', ms: 76, of: 'wait' },
    { name: 'upstream', ms: 4.9, of: 'upstream' },
    { name: 'sending the response', ms: 3.9, of: 'caller' },
  ]);
});

it('has all the time of the record', () => {
  const us = (ms: number | null) => Math.round((ms ?? 0) * 1000);
  fc.assert(
    fc.property(anyRecord, ({ timing, waits }) => {
      const { total_ms: _, ...states } = timing;
      const sum = Object.values(states).reduce<number>((all, ms) => all + us(ms), 0);
      expect(timeParts({ timing, waits }).reduce((all, { ms }) => all + us(ms), 0)).toBe(sum);
    }),
  );
});
