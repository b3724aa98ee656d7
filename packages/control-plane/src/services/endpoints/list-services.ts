import { displayNameField, exampleId } from '@gateway/shared/definitions/fields';
import { isId } from '@gateway/shared/ids';
import { z } from 'zod';
import { coveredNames } from '../../access/access.ts';
import { readableOnly } from '../../fields/unreadable.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import {
  cutPage,
  decodeCursor,
  environmentFilter,
  idKey,
  idsParameter,
  listParameters,
  textParameter,
} from '../../http/list-query.ts';
import { page } from '../../http/reply.ts';
import type { ResourceDeps } from '../../http/resource-deps.ts';
import {
  idsWithStatus,
  serviceOrderParameter,
  serviceStatusParameter,
  type ServicesByStatus,
} from '../service-health-filter.ts';
import { serviceView, serviceViewSchema, type Service, type ServiceStatus } from '../service.ts';
import { listServices, listWorstServices } from '../store/services.ts';

const LIST = 'services';
/** Where a page of the list by status ends: how bad its last service is, 0 the worst, and its id. */
const statusPosition = z.tuple([z.int().min(0).max(2), idKey('svc')]);

const query = z.strictObject({
  ...listParameters,
  environment: environmentFilter,
  name: displayNameField.optional().meta({
    description: 'Only the service of this name.',
    examples: ['payments'],
  }),
  ids: idsParameter((id) => isId('svc', id), 'Only the services of these ids', exampleId('svc')),
  search: textParameter()
    .regex(/^[^\0]{0,255}$/u, { error: 'must be at most 255 characters without NUL' })
    .transform((text) => text.toLowerCase())
    .optional()
    .meta({
      description:
        'Only services whose name, or the URL of an upstream, contains this text. Upper and lower case are the same.',
      examples: ['payments.internal'],
    }),
  status: serviceStatusParameter,
  order: serviceOrderParameter,
});

/** What the live data planes say of services. */
export interface ReportedStatuses {
  /** The health of a service. */
  readonly statusOf: (serviceId: string) => ServiceStatus;
  /** The services that they report, by status. */
  readonly servicesByStatus: () => ServicesByStatus;
}

/** `GET /v1/services`. */
export function listServicesEndpoint(
  { db }: Pick<ResourceDeps, 'db'>,
  { statusOf, servicesByStatus }: ReportedStatuses,
): Endpoint {
  return endpoint({
    method: 'GET',
    path: '/v1/services',
    operationId: 'listServices',
    tag: 'Services',
    summary: 'List services',
    description:
      'Lists the services that the token covers, oldest first unless `order` says otherwise, without those that this release cannot read. A page with a `next_cursor` may have fewer items ' +
      'than `limit` if services have large certificates.',
    scope: 'services:read',
    answers: 'page',
    data: serviceViewSchema,
    errors: [],
    query,
    async handle({ token, query: { limit, cursor, status, order, ...filters } }) {
      if (filters.ids?.length === 0) return page([], null);
      const filter = {
        environments: coveredNames(token.environments),
        ...filters,
        withStatus: status && idsWithStatus(status, servicesByStatus()),
        limit: limit + 1,
      };
      const shown = (rows: readonly Service[]) =>
        readableOnly(rows, (service) => serviceView(service, statusOf(service.id)));
      if (order === undefined) {
        const after = cursor === undefined ? undefined : decodeCursor(LIST, idKey('svc'), cursor);
        const { rows, isCut } = await listServices(db, { ...filter, after });
        const cut = cutPage(rows, limit, LIST, (row) => row.id, isCut);
        return page(shown(cut.rows), cut.nextCursor);
      }
      const list = `${LIST} ${order}`;
      const [rank, id] = cursor === undefined ? [] : decodeCursor(list, statusPosition, cursor);
      const after = rank === undefined || id === undefined ? undefined : { rank, id };
      const { unhealthy, degraded } = servicesByStatus();
      const ranked = await listWorstServices(db, { ...filter, unhealthy, degraded, after });
      const cut = cutPage(ranked.rows, limit, list, (row) => [row.rank, row.id], ranked.isCut);
      return page(shown(cut.rows), cut.nextCursor);
    },
  });
}
