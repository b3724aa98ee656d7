import { describe, expect, it } from '@jest/globals';
import { actionText, changedFieldsText, resourceName } from './event-text.ts';

describe('an audit event in words', () => {
  it('says what was done to what', () => {
    expect(actionText({ action: 'environment.rolled_back' })).toBe('rolled back');
    const event = { resource_id: 'rte_1', before: { name: 'old' }, after: { name: 'new' } };
    expect(resourceName(event)).toBe('new');
    expect(resourceName({ ...event, after: null })).toBe('old');
    expect(resourceName({ ...event, before: null, after: {} })).toBe('rte_1');
  });

  it('names the fields that changed', () => {
    const before = { a: 1, b: 1, c: 1, d: 1, e: 1 };
    expect(changedFieldsText({ before, after: { ...before, b: 2 } })).toBe('b');
    const after = { a: 2, b: 2, c: 2, d: 2, e: 2 };
    expect(changedFieldsText({ before, after })).toBe('a, b, c, d and 1 more');
    expect(changedFieldsText({ before: null, after })).toBe('its settings');
    expect(changedFieldsText({ before, after: before })).toBe('no field');
  });
});
