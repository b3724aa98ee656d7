import { expect, it } from '@jest/globals';
import { DEFAULT_METHODS as SERVED } from '@gateway/shared/http/methods';
import { DEFAULT_METHODS } from './default-methods.ts';

it('the methods of a route without a list are those that data planes accept', () => {
  expect(DEFAULT_METHODS).toEqual(SERVED);
});
