import { describe, expect, it } from '@jest/globals';
import { actionText, resourceName } from './event-text.ts';

describe('an audit event in words', () => {
  it('says what was done to what', () => {
    expect(actionText({ action: 'environment.rolled_back' })).toBe('rolled back');
    const event = { resource_id: 'rte_1', before: { name: 'old' }, after: { name: 'new' } };
    expect(resourceName(event)).toBe('new');
    expect(resourceName({ ...event, after: null })).toBe('old');
    expect(resourceName({ ...event, before: null, after: {} })).toBe('rte_1');
  });
});
