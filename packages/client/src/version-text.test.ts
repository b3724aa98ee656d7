import { expect, it } from '@jest/globals';
import { changedResourcesText, versionReason } from './version-text.ts';

const resource = (name: string, fields: string[]) => ({
  resource_type: 'route' as const,
  resource_id: 'rte_1',
  name,
  change: fields.length > 0 ? ('changed' as const) : ('added' as const),
  fields,
});
const version = {
  environment: 'production',
  version: 7,
  published_at: '2026-01-01T00:00:00.000Z',
  reason: 'changed',
  changes: 4,
  changed_by: [],
  changed_resources: [
    resource('a', ['status']),
    resource('b', []),
    resource('c', ['auth', 'methods', 'regions', 'retry']),
  ],
  restored_version: null,
  current: true,
  former: false,
};

it('names what a version changed, and that there is more', () => {
  expect(changedResourcesText(version, 3)).toBe(
    'route a: status; route b added; route c: auth, methods, regions, …',
  );
  expect(changedResourcesText(version, 1)).toBe('route a: status; and more');
  expect(changedResourcesText({ ...version, changed_resources: [] }, 3)).toBe('');
});

it('names a rollback as such', () => {
  expect(versionReason(version)).toBe('changed');
  expect(versionReason({ ...version, restored_version: 4 })).toBe('rolled back to 4');
});
