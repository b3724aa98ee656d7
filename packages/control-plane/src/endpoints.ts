import type { MasterKey } from '@gateway/shared/config/master-keys';
import type { CredentialVault } from '@gateway/shared/secrets/upstream-credential';
import type { ServicesByStatus } from './services/service-health-filter.ts';
import type { ServiceStatus } from './services/service.ts';
import type { DataPlanes } from './data-planes/data-planes.ts';
import type { Endpoint } from './http/endpoint.ts';
import { createSearchQueue, MAX_SEARCHES } from './http/search-queue.ts';
import type { HostRules } from './hosts/allowed-hosts.ts';
import { applyEndpoints } from './configuration/endpoints/apply.ts';
import { auditEventEndpoints } from './audit/endpoints/audit-events.ts';
import { configVersionEndpoints } from './configuration/endpoints/config-aliases.ts';
import type { AskDataPlane } from './data-planes/ask-data-planes.ts';
import { connectionTestEndpoint } from './connection-tests/endpoints/test-connections.ts';
import { explainEndpoints } from './explain/endpoints/explain.ts';
import { dataPlaneEndpoints } from './data-planes/endpoints/data-planes.ts';
import { environmentVersionEndpoints } from './configuration/endpoints/environment-versions.ts';
import { environmentEndpoints } from './environments/endpoints/environments.ts';
import { linkEndpoints } from './links/endpoints/links.ts';
import type { LinkSettings } from './links/links.ts';
import { putRouteEndpoint } from './routes/endpoints/put-route.ts';
import { putServiceEndpoint } from './services/endpoints/put-service.ts';
import { requestEndpoints } from './requests/endpoints/requests.ts';
import type { ResourceDeps } from './http/resource-deps.ts';
import { routeEndpoints } from './routes/endpoints/routes.ts';
import { serviceHealthEndpoint } from './health/endpoints/service-health.ts';
import { serviceEndpoints } from './services/endpoints/services.ts';
import { requestCountsEndpoint } from './statistics/endpoints/request-counts.ts';
import { callerStatisticsEndpoints } from './statistics/endpoints/caller-statistics.ts';
import { statisticsEndpoints } from './statistics/endpoints/statistics.ts';
import { tokenEndpoints } from './tokens/endpoints/tokens.ts';

/** The dependencies of all endpoints. */
export interface EndpointDeps extends ResourceDeps {
  /** The rules for the hosts of upstreams and of JWT key sets. */
  readonly hosts: HostRules;
  readonly credentials: CredentialVault;
  /** Sign what data planes are asked to do. */
  readonly masterKeys: readonly MasterKey[];
  readonly links: LinkSettings;
  readonly dataPlanes: DataPlanes;
  readonly ask: AskDataPlane;
  /** The health of a service as the live data planes report it. */
  readonly statusOf: (serviceId: string) => ServiceStatus;
  readonly servicesByStatus: () => ServicesByStatus;
}

/** Every endpoint of the management API. The OpenAPI document lists them in the order of its tags. */
export function managementEndpoints(deps: EndpointDeps): readonly Endpoint[] {
  const { hosts, credentials } = deps;
  const searched = { ...deps, runSearch: createSearchQueue(MAX_SEARCHES, deps.clock) };
  const history = {
    ...deps,
    knowsKey: (keyId: string) => credentials.knows(keyId),
    reservedHosts: hosts.reserved,
  };
  return [
    ...serviceEndpoints(deps, deps),
    putServiceEndpoint(deps, deps),
    serviceHealthEndpoint(deps),
    connectionTestEndpoint(deps),
    ...routeEndpoints(deps, hosts),
    putRouteEndpoint(deps, hosts),
    ...explainEndpoints(deps),
    ...requestEndpoints(searched),
    ...statisticsEndpoints(deps),
    requestCountsEndpoint(searched),
    ...callerStatisticsEndpoints(deps),
    ...environmentEndpoints(deps),
    ...applyEndpoints(deps),
    ...environmentVersionEndpoints(history),
    ...configVersionEndpoints(history),
    ...tokenEndpoints(deps),
    ...auditEventEndpoints(searched),
    ...dataPlaneEndpoints(deps),
    ...linkEndpoints(deps.links),
  ];
}
