import { choiceField } from '@gateway/shared/definitions/fields';
import type { z } from 'zod';
import type { ServiceStatus } from './service.ts';

/** The query parameter `status` of the list of services. `failing`: degraded or unhealthy. */
export const serviceStatusParameter = choiceField([
  'healthy',
  'degraded',
  'unhealthy',
  'unknown',
  'failing',
])
  .optional()
  .meta({
    description:
      'Only services with this status. `failing`: those that are degraded or unhealthy. Default: all.',
    examples: ['failing'],
  });

/** The query parameter `order` of the list of services. */
export const serviceOrderParameter = choiceField(['status'])
  .optional()
  .meta({
    description:
      'The order of the list. `status`: unhealthy ones first, then degraded ones, then all others. Default: oldest first.',
    examples: ['status'],
  });

export type ServiceStatusFilter = NonNullable<z.output<typeof serviceStatusParameter>>;

/** The services that data planes report, by status. All others are unknown. */
export type ServicesByStatus = Readonly<
  Record<Exclude<ServiceStatus, 'unknown'>, readonly string[]>
>;

/** Which services have a status: those of `ids`, or all but those. */
export interface IdFilter {
  readonly ids: readonly string[];
  readonly isExcluded: boolean;
}

/** The services that the filter leaves. */
export function idsWithStatus(status: ServiceStatusFilter, known: ServicesByStatus): IdFilter {
  const { healthy, degraded, unhealthy } = known;
  switch (status) {
    case 'failing':
      return { ids: [...unhealthy, ...degraded], isExcluded: false };
    case 'unknown':
      return { ids: [...unhealthy, ...degraded, ...healthy], isExcluded: true };
    default:
      return { ids: known[status], isExcluded: false };
  }
}
