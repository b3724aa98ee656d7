import { describe, expect, test } from '@jest/globals';
import { environmentTone } from './environment-tone.ts';

describe('the colour of an environment', () => {
  test.each([
    ['production', 'production'],
    ['prod', 'production'],
    ['eu-prod', 'production'],
    ['live', 'production'],
    ['staging', 'staging'],
    ['qa', 'staging'],
    ['development', 'other'],
    ['products', 'other'],
    ['olive', 'other'],
  ])('of %s is that of %s', (name, tone) => {
    expect(environmentTone(name)).toBe(tone);
  });
});
