import type { AuditEvent } from '../../api/client.ts';

/** What was done, as a verb: `updated`, `rolled back`. */
export function actionText({ action }: Pick<AuditEvent, 'action'>): string {
  return action.slice(action.indexOf('.') + 1).replaceAll('_', ' ');
}

/** The name of the resource, after the change if it is still there; its id if it has none. */
export function resourceName(event: Pick<AuditEvent, 'before' | 'after' | 'resource_id'>): string {
  const name = (event.after ?? event.before)?.['name'];
  return typeof name === 'string' && name !== '' ? name : event.resource_id;
}
