import { describe, expect, it } from '@jest/globals';
import { lastErrorOf } from './last-error.ts';

describe('the last error in a log', () => {
  it.each([
    [
      'of a plane is the newest error line with its cause',
      [
        '{"severity_number":21,"exception.message":"no key","body":"cannot start"}',
        '{"severity_number":9,"body":"bye"}',
      ],
      'cannot start: no key',
    ],
    [
      'of Node is the error without its stack',
      ['TypeError: x', '    at y', 'Node.js v24'],
      'TypeError: x',
    ],
    ['of Postgres is its FATAL line', ['LOG: a', 'FATAL:  no space', 'LOG: b'], 'FATAL:  no space'],
    [
      'is an incomplete line of JSON as it stands',
      ['{"severity_number":21,"bo'],
      '{"severity_number":21,"bo',
    ],
    ['is replaced by the last lines if there is no error', ['a', 'b', 'c', 'd'], 'b c d'],
    ['is empty if the log is empty', [], ''],
  ])('%s', (_case, lines, expected) => {
    expect(lastErrorOf(lines)).toBe(expected);
  });
});
