import { expect, test } from '@jest/globals';
import { lastChanges } from './last-changes.ts';

test('of each resource only the newest change is its last one', () => {
  const events = [
    { id: 'aud_4', resource_id: 'rte_a' },
    { id: 'aud_3', resource_id: 'svc_b' },
    { id: 'aud_2', resource_id: 'rte_a' },
    { id: 'aud_1', resource_id: 'svc_b' },
  ];
  expect([...lastChanges(events)]).toEqual(['aud_4', 'aud_3']);
  expect([...lastChanges(events.slice(2))]).toEqual(['aud_2', 'aud_1']);
});
