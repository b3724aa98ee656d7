import { SCOPES } from '@gateway/shared/tokens/scopes';
import { expect, it } from '@jest/globals';
import { MATRIX } from './scope-matrix.ts';
import { PRESETS, presetOf } from './presets.ts';

it('have scopes that exist, and are found by them in any order', () => {
  for (const { scopes, value } of PRESETS) {
    expect(SCOPES).toEqual(expect.arrayContaining([...scopes]));
    expect(presetOf(scopes.toReversed())?.value).toBe(value);
  }
  expect(presetOf(['proxy', 'routes:read'])).toBeUndefined();
  expect(presetOf([])).toBeUndefined();
});

it('have a box for every scope but the one for all', () => {
  const boxes = MATRIX.flatMap(({ read, write, call }) => [read, write, call]);
  expect(new Set(boxes.filter((one) => one !== undefined))).toEqual(
    new Set(SCOPES.filter((one) => one !== '*')),
  );
});
