import type { CredentialVault } from '@gateway/shared/secrets/upstream-credential';
import type { ServiceStatus } from '../domain/service.ts';
import type { DataPlanes } from '../fleet/data-planes.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { createSearchQueue, MAX_SEARCHES } from '../http/search-queue.ts';
import type { HostRules } from './allowed-hosts.ts';
import { applyEndpoints } from './apply.ts';
import { auditEventEndpoints } from './audit-events.ts';
import { configVersionEndpoints } from './config-versions.ts';
import type { AskDataPlane } from '../fleet/ask-data-planes.ts';
import { explainEndpoints } from './explain.ts';
import { dataPlaneEndpoints } from './data-planes.ts';
import { environmentVersionEndpoints } from './environment-versions.ts';
import { environmentEndpoints } from './environments.ts';
import { putRouteEndpoint } from './put-route.ts';
import { putServiceEndpoint } from './put-service.ts';
import { requestEndpoints } from './requests.ts';
import type { ResourceParts } from './resource-parts.ts';
import { routeEndpoints } from './routes.ts';
import { serviceHealthEndpoint } from './service-health.ts';
import { serviceEndpoints } from './services.ts';
import { statisticsEndpoints } from './statistics.ts';
import { tokenEndpoints } from './tokens.ts';

/** The dependencies of all endpoints. */
export interface EndpointParts extends ResourceParts {
  /** The rules for the hosts of upstreams and of JWT key sets. */
  readonly hosts: HostRules;
  readonly credentials: CredentialVault;
  readonly dataPlanes: DataPlanes;
  readonly ask: AskDataPlane;
  /** The health of a service as the live data planes report it. */
  readonly statusOf: (serviceId: string) => ServiceStatus;
}

/** Every endpoint of the management API. The OpenAPI document lists them in the order of its tags. */
export function managementEndpoints(parts: EndpointParts): readonly Endpoint[] {
  const { hosts, credentials } = parts;
  const searched = { ...parts, runSearch: createSearchQueue(MAX_SEARCHES, parts.clock) };
  const history = { ...parts, knowsKey: (keyId: string) => credentials.knows(keyId) };
  return [
    ...serviceEndpoints(parts, parts),
    putServiceEndpoint(parts, parts),
    serviceHealthEndpoint(parts),
    ...routeEndpoints(parts, hosts),
    putRouteEndpoint(parts, hosts),
    ...explainEndpoints(parts),
    ...requestEndpoints(searched),
    ...statisticsEndpoints(parts),
    ...environmentEndpoints(parts),
    ...applyEndpoints(parts),
    ...environmentVersionEndpoints(history),
    ...configVersionEndpoints(history),
    ...tokenEndpoints(parts),
    ...auditEventEndpoints(searched),
    ...dataPlaneEndpoints(parts),
  ];
}
