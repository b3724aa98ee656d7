import { describe, expect, it } from '@jest/globals';
import { localInputOf, timeOfLocalInput } from './local-input.ts';

describe('a time in a field', () => {
  it('is the same time before and after, in every zone', () => {
    const times = [
      '2030-01-01T00:00:00.000Z',
      '2030-01-31T12:00:00.000Z',
      '2030-07-01T00:30:00.000Z',
      '2030-07-31T23:59:00.000Z',
    ];
    for (const time of times) {
      expect(timeOfLocalInput(localInputOf(time))).toBe(time);
    }
  });

  it('has the form of the field', () => {
    expect(localInputOf('2030-01-31T12:00:00.000Z')).toMatch(/^2030-0[12]-\d\dT\d\d:\d\d$/);
  });

  it('may be missing', () => {
    expect(localInputOf(undefined)).toBe('');
    expect(localInputOf('soon')).toBe('');
    expect(localInputOf('yesterday')).toBe('');
    expect(timeOfLocalInput('')).toBeUndefined();
    expect(timeOfLocalInput('soon')).toBeUndefined();
  });
});
