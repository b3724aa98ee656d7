import { describe, expect, it } from '@jest/globals';
import { lastWords } from './last-words.ts';

describe('the last words of a process', () => {
  it.each([
    [
      'of a plane are its newest error with its cause',
      ['{"level":60,"msg":"cannot start","err":{"message":"no key"}}', '{"level":30,"msg":"bye"}'],
      'cannot start: no key',
    ],
    [
      'of Node are the error and not its stack',
      ['TypeError: x', '    at y', 'Node.js v24'],
      'TypeError: x',
    ],
    [
      'of Postgres are its FATAL line',
      ['LOG: a', 'FATAL:  no space', 'LOG: b'],
      'FATAL:  no space',
    ],
    ['of a cut line of JSON are the line', ['{"level":60,"ms'], '{"level":60,"ms'],
    ['of one that says nothing telling are its last lines', ['a', 'b', 'c', 'd'], 'b c d'],
    ['are empty where it wrote nothing', [], ''],
  ])('%s', (_case, lines, words) => {
    expect(lastWords(lines)).toBe(words);
  });
});
