import { requireEnvironment } from '../../access/access.ts';
import { serviceHealthView, serviceHealthViewSchema } from '../service-health.ts';
import type { DataPlanes } from '../../data-planes/data-planes.ts';
import { serviceStatus } from '../../data-planes/fleet-health.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { pathId } from '../../http/input.ts';
import { idParameter } from '../../http/path-parameters.ts';
import { ok } from '../../http/reply.ts';
import { findService, serviceNotFound } from '../../services/store/services.ts';
import type { ResourceDeps } from '../../http/resource-deps.ts';

export interface ServiceHealthDeps extends Pick<ResourceDeps, 'db' | 'clock'> {
  readonly dataPlanes: Pick<DataPlanes, 'live'>;
}

/** `GET /v1/services/{id}/health`: each upstream as the live data planes see it. */
export function serviceHealthEndpoint(deps: ServiceHealthDeps): Endpoint {
  const { db, clock, dataPlanes } = deps;
  return endpoint({
    method: 'GET',
    path: '/v1/services/{id}/health',
    operationId: 'getServiceHealth',
    tag: 'Services',
    summary: 'Show the health of a service',
    description:
      'Shows the health of each upstream of a service, for each region and each live data plane, as in their last ' +
      'heartbeats.',
    params: { id: idParameter('svc', 'The id of the service.') },
    scope: 'services:read',
    answers: 'one',
    data: serviceHealthViewSchema,
    errors: ['service_not_found'],
    async handle({ token, params }) {
      const service = await findService(db, pathId(params, 'svc', serviceNotFound));
      if (service === undefined) throw serviceNotFound();
      requireEnvironment(token, service.environment);
      const now = { monotonicMs: clock.monotonicMs(), wallMs: clock.nowMs() };
      const live = dataPlanes.live(now.monotonicMs);
      return ok(serviceHealthView(service, serviceStatus(live, service.id), live, now));
    },
  });
}
