import { expect, it } from '@jest/globals';
import { styled, usesColour } from './colours.ts';

it.each([
  ['a terminal', {}, true, 'auto', true],
  ['a pipe', {}, false, 'auto', false],
  ['NO_COLOR', { NO_COLOR: '1' }, true, 'auto', false],
  ['an empty NO_COLOR', { NO_COLOR: '' }, true, 'auto', true],
  ['FORCE_COLOR in a pipe', { FORCE_COLOR: '1' }, false, 'auto', true],
  ['FORCE_COLOR=0', { FORCE_COLOR: '0' }, true, 'auto', false],
  ['a dumb terminal', { TERM: 'dumb' }, true, 'auto', false],
  ['--color=always in a pipe with NO_COLOR', { NO_COLOR: '1' }, false, 'always', true],
  ['--color=never', { FORCE_COLOR: '1' }, true, 'never', false],
] as const)('%s', (_what, env, isTerminal, choice, expected) => {
  expect(usesColour(env, isTerminal, choice)).toBe(expected);
});

it('ends each style, and styles no empty text', () => {
  expect(styled('red', '503')).toBe('\u001b[31m503\u001b[39m');
  expect(styled('bold', '')).toBe('');
});
