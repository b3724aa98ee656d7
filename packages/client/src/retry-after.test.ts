import { expect, it } from '@jest/globals';
import { retryAfterMs } from './retry-after.ts';

it.each([
  [{ 'retry-after': '17' }, 17_000],
  [{ 'x-ratelimit-reset': '45' }, 45_000],
  [{ 'retry-after': '1', 'x-ratelimit-reset': '45' }, 1000],
  // A time since 1970, as others send it.
  [{ 'x-ratelimit-reset': '1767225600' }, undefined],
  [{ 'retry-after': 'soon' }, undefined],
  [{}, undefined],
])('%j asks for %p ms', (headers, ms) => {
  expect(retryAfterMs(new Headers(Object.entries(headers)))).toBe(ms);
});
