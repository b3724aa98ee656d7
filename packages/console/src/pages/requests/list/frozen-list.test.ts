import { expect, it } from '@jest/globals';
import { freshCount } from './frozen-list.ts';

const list = (...ids: string[]) => ({ data: ids.map((id) => ({ id })) });

it('counts what came since, also late records within the list', () => {
  expect(freshCount(list('5', '3'), list('7', '6', '5', '4', '3'))).toBe('3');
  expect(freshCount(list('5', '3'), list('5', '3', '2'))).toBeUndefined();
  expect(freshCount(list('5'), undefined)).toBeUndefined();
});

it('says that there are more if nothing of the shown list is left', () => {
  expect(freshCount(list('5', '3'), list('9', '8'))).toBe('2+');
  expect(freshCount(list(), list('9', '8'))).toBe('2');
});
