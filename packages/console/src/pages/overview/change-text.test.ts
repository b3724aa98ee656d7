import { expect, it } from '@jest/globals';
import { changeOf, shareChangeOf } from './change-text.ts';

it.each([
  [112, 100, { text: '+12 %', isUp: true }],
  [97.5, 100, { text: '−2.5 %', isUp: false }],
  [0, 100, { text: '−100 %', isUp: false }],
  [2000, 100, { text: '×20', isUp: true }],
  [3, 0, { text: 'none before', isUp: true, isFirst: true }],
  [100.1, 100, undefined],
  [0, 0, undefined],
  [null, 100, undefined],
  [100, undefined, undefined],
])('%j after %j is %j', (now, before, change) => {
  expect(changeOf(now, before)).toEqual(change);
});

it.each([
  [0.15, 0.145, { text: '+0.5 points', isUp: true }],
  [0.001, 0.0123, { text: '−1.1 points', isUp: false }],
  [0.5, 0, { text: '+50 points', isUp: true }],
  [0.0002, 0, { text: '+0.02 points', isUp: true }],
  [0.1, 0.100_01, undefined],
  [null, 0.1, undefined],
  [0.1, undefined, undefined],
])('a share of %j after %j is %j', (now, before, change) => {
  expect(shareChangeOf(now, before)).toEqual(change);
});
