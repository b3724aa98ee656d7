import { expect, it } from '@jest/globals';
import { changeOf } from './change-text.ts';

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
