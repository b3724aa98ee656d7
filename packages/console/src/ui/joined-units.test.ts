import { expect, it } from '@jest/globals';
import { joinedUnits } from './joined-units.ts';

it('joins numbers with their units, and with nothing else', () => {
  expect(joinedUnits('1 KiB a second over 30 s, 99 % of 12 d')).toBe(
    '1\u00A0KiB a second over 30\u00A0s, 99\u00A0% of 12\u00A0d',
  );
  expect(joinedUnits('3 of 3 checks, 5 data planes, 2 hosts')).toBe(
    '3 of 3 checks, 5 data planes, 2 hosts',
  );
});
