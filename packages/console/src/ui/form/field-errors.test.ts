import { describe, expect, it } from '@jest/globals';
import { fieldErrors } from './field-errors.ts';

describe('errors of fields', () => {
  const errors = fieldErrors([
    { path: 'timeout_ms', message: 'must be a whole number' },
    { path: 'retry.on_statuses.1', message: 'must be 429' },
    { path: 'retry.on_statuses', message: 'must not repeat an item' },
  ]);

  it('stand at the field that the API names', () => {
    expect(errors.at('timeout_ms')).toBe('must be a whole number');
    expect(errors.at('timeout')).toBeUndefined();
    expect(errors.at('retry')).toBeUndefined();
  });

  it('stand at a list if they name an item', () => {
    expect(errors.within('retry.on_statuses')).toBe('item 2 must be 429; must not repeat an item');
    expect(errors.within('retry.on')).toBeUndefined();
    const typed = fieldErrors([{ path: 'headers.bad header ', message: 'must be a name' }]);
    expect(typed.within('headers')).toBe('“bad header” must be a name');
  });
});
