import { expect, it } from '@jest/globals';
import { bytesText } from './bytes-text.ts';

it('shows sizes in the unit that fits', () => {
  expect([0, 1, 1023].map(bytesText)).toEqual(['0 bytes', '1 byte', '1023 bytes']);
  expect(bytesText(1536)).toBe('1.5 KiB');
  expect(bytesText(10 * 1024 * 1024)).toBe('10 MiB');
  expect(bytesText(5 * 1024 ** 4)).toBe('5,120 GiB');
});
