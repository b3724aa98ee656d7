import { expect, it } from '@jest/globals';
import { expiryAfter, usualExpiry } from './expiries.ts';

const nowMs = Date.parse('2026-03-01T09:00:00.000Z');

it('ends a token after a year unless somebody chooses otherwise', () => {
  expect(usualExpiry(null, nowMs)).toBe('1y');
  expect(expiryAfter('1y', nowMs)).toBe('2027-03-01T09:00:00.000Z');
  expect(expiryAfter('30d', nowMs)).toBe('2026-03-31T09:00:00.000Z');
  expect(expiryAfter('never', nowMs)).toBeNull();
});

it('ends it with the token that creates it where that ends before', () => {
  expect(usualExpiry('2026-06-01T00:00:00.000Z', nowMs)).toBe('own');
  expect(usualExpiry('2030-06-01T00:00:00.000Z', nowMs)).toBe('1y');
  expect(expiryAfter('own', nowMs)).toBeUndefined();
});
