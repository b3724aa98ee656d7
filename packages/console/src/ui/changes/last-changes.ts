import type { AuditEvent } from '../../api/client.ts';

/**
 * The ids of the changes after which the list has no further one of the same resource: only the last change of a resource
 * can be reverted. What the list does not have, the API refuses.
 *
 * @param events newest first
 */
export function lastChanges(
  events: readonly Pick<AuditEvent, 'id' | 'resource_id'>[],
): ReadonlySet<string> {
  const lastOf = new Map<string, string>();
  for (const { id, resource_id: resource } of events) {
    if (!lastOf.has(resource)) lastOf.set(resource, id);
  }
  return new Set(lastOf.values());
}
