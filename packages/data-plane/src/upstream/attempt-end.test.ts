import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { ATTEMPT_ERRORS } from './attempt-end.ts';

const PAGE = new URL('../../../../docs/use/policies/upstream-health.md', import.meta.url);
const ROWS = readFileSync(PAGE, 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .map((line) => line.split('|').map((cell) => cell.trim()));

describe('the table of docs/use/policies/upstream-health.md', () => {
  it.each(Object.entries(ATTEMPT_ERRORS))(
    'says of %s that it is a fault of the %s',
    (name, fault) => {
      const faults = ROWS.filter((cells) => cells[2]?.includes(`\`${name}\``)).map(
        (cells) => cells[3],
      );
      expect(faults).toContain(fault);
    },
  );
});
