import { describe, expect, it } from '@jest/globals';
import { lastErrorOf } from './last-error.ts';

describe('the last error in a log', () => {
  it.each([
    [
      'of a plane is the newest error line with its cause',
      ['{"level":60,"msg":"cannot start","err":{"message":"no key"}}', '{"level":30,"msg":"bye"}'],
      'cannot start: no key',
    ],
    [
      'of Node is the error without its stack',
      ['TypeError: x', '    at y', 'Node.js v24'],
      'TypeError: x',
    ],
    ['of Postgres is its FATAL line', ['LOG: a', 'FATAL:  no space', 'LOG: b'], 'FATAL:  no space'],
    ['is an incomplete line of JSON as it stands', ['{"level":60,"ms'], '{"level":60,"ms'],
    ['is replaced by the last lines if there is no error', ['a', 'b', 'c', 'd'], 'b c d'],
    ['is empty if the log is empty', [], ''],
  ])('%s', (_case, lines, expected) => {
    expect(lastErrorOf(lines)).toBe(expected);
  });
});
