import type { AuditEvent } from '../../api/client.ts';
import { resourceChanges } from '../diff/resource-changes.ts';

/** What was done, as a verb: `updated`, `rolled back`. */
export function actionText({ action }: Pick<AuditEvent, 'action'>): string {
  return action.slice(action.indexOf('.') + 1).replaceAll('_', ' ');
}

/** The name of the resource, after the change if it is still there; its id if it has none. */
export function resourceName(event: Pick<AuditEvent, 'before' | 'after' | 'resource_id'>): string {
  const name = (event.after ?? event.before)?.['name'];
  return typeof name === 'string' && name !== '' ? name : event.resource_id;
}

const NAMED_FIELDS = 4;

/** What a change concerns: the names of the fields, such as `timeout_ms, methods and 2 more`. */
export function changedFieldsText({ before, after }: Pick<AuditEvent, 'before' | 'after'>): string {
  // Then all fields differ from nothing.
  if (before === null || after === null) return 'its settings';
  const paths = resourceChanges(before, after).map(({ path }) => path);
  if (paths.length === 0) return 'no field';
  const more = paths.length - NAMED_FIELDS;
  const named = paths.slice(0, NAMED_FIELDS).join(', ');
  return more > 0 ? `${named} and ${more} more` : named;
}
