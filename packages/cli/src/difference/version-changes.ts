import { isDeepStrictEqual } from 'node:util';
import type { components } from '@gateway/client';
import { pointerTo } from '../input/json-pointer.ts';
import type { ChangeResult, ResourceChange } from './difference-lines.ts';
import type { Fields } from './field-lines.ts';

type ConfigDifference = components['schemas']['ConfigDifference'];

/** These change with every change. */
const SILENT = new Set(['revision', 'updated_at']);

const ACTIONS = { added: 'created', removed: 'deleted', changed: 'updated' } as const;

/** The differences between two versions in the form and order in which an apply shows its changes. */
export function versionChanges(
  environment: string,
  differences: readonly ConfigDifference[],
): ChangeResult {
  const changes = differences.map(changeOf).sort((a, b) => {
    if (a.resource_type !== b.resource_type) return a.resource_type === 'service' ? -1 : 1;
    return a.name < b.name ? -1 : 1;
  });
  const countsOf = (kind: ResourceChange['resource_type']) => {
    const count = (action: ResourceChange['action']) =>
      changes.filter((one) => one.resource_type === kind && one.action === action).length;
    return { created: count('created'), updated: count('updated'), deleted: count('deleted') };
  };
  return {
    environment,
    dry_run: false,
    changed: changes.length > 0,
    services: countsOf('service'),
    routes: countsOf('route'),
    changes,
  };
}

function changeOf({ resource_type, resource_id, name, change, before, after }: ConfigDifference) {
  const isUpdate = before !== null && after !== null;
  return {
    resource_type,
    resource_id,
    name,
    action: ACTIONS[change],
    fields: isUpdate ? fieldChanges(before, after) : [],
    before: isUpdate ? null : before,
    after: isUpdate ? null : after,
  };
}

/** The fields that differ, at the deepest level of objects. Lists are compared whole. */
function fieldChanges(before: Fields, after: Fields, pointer = ''): ResourceChange['fields'] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((name) => {
    const [old, present] = [before[name], after[name]];
    if ((pointer === '' && SILENT.has(name)) || isDeepStrictEqual(old, present)) return [];
    const path = pointerTo(pointer, name);
    if (isObject(old) && isObject(present)) return fieldChanges(old, present, path);
    return [{ path, before: old ?? null, after: present ?? null }];
  });
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
