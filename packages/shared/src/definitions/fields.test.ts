import { expect, test } from '@jest/globals';
import { idField, stringField } from './fields.ts';

test('a string that is missing is required, and another type is no string', () => {
  const field = stringField(/^a$/, 'must be a');
  const messageOf = (value: unknown) => field.safeParse(value).error?.issues[0]?.message;
  expect(messageOf(undefined)).toBe('is required');
  expect(messageOf(null)).toBe('must be a string');
  expect(messageOf(7)).toBe('must be a string');
  expect(messageOf('b')).toBe('must be a');
  expect(messageOf('a')).toBeUndefined();
  expect(idField.safeParse(undefined).error?.issues[0]?.message).toBe('is required');
});
