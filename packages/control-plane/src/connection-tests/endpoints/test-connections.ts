import type { MasterKey } from '@gateway/shared/config/master-keys';
import type { CredentialVault } from '@gateway/shared/secrets/upstream-credential';
import { isId } from '@gateway/shared/ids';
import { requireEnvironment, requireScopes } from '../../access/access.ts';
import type { CallerToken } from '../../access/caller.ts';
import { unknownDataPlane, type AskDataPlane } from '../../data-planes/ask-data-planes.ts';
import type { DataPlanes } from '../../data-planes/data-planes.ts';
import { findEnvironment } from '../../environments/store/environments.ts';
import { requireAllowedHosts, type HostRules } from '../../hosts/allowed-hosts.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { invalidField } from '../../http/input.ts';
import { namedInBody, UNKNOWN_ENVIRONMENT, UNKNOWN_SERVICE } from '../../http/missing-reference.ts';
import { ok } from '../../http/reply.ts';
import type { ResourceDeps } from '../../http/resource-deps.ts';
import { onlyEnvironment, urlsOf } from '../../services/endpoints/service-input.ts';
import { secretsOf } from '../../services/endpoints/service-secrets.ts';
import type { Service } from '../../services/service.ts';
import { findService } from '../../services/store/services.ts';
import { askForTests } from '../ask-for-tests.ts';
import { dataPlanesToTest } from '../choose-data-planes.ts';
import { connectionTestView, connectionTestViewSchema } from '../connection-test.ts';
import { TestAllowance } from '../test-allowance.ts';
import { connectionTestSchema, type ConnectionTestInput } from '../test-input.ts';
import { testedService } from '../tested-service.ts';

export interface ConnectionTestDeps extends ResourceDeps {
  readonly hosts: HostRules;
  readonly credentials: CredentialVault;
  /** Sign the questions to data planes. */
  readonly masterKeys: readonly MasterKey[];
  readonly dataPlanes: Pick<DataPlanes, 'list'>;
  readonly ask: AskDataPlane;
}

/** `POST /v1/connection-tests`: whether live data planes reach the upstreams of a service, stored or not. */
export function connectionTestEndpoint(deps: ConnectionTestDeps): Endpoint {
  const { db, clock, newId, hosts, credentials, masterKeys, dataPlanes, ask } = deps;
  const allowance = new TestAllowance(clock);

  /** The stored service that the body names, which the token must cover and may read: the answer speaks of its settings. */
  async function storedService(
    token: CallerToken,
    { service_id: id, environment }: ConnectionTestInput,
  ): Promise<Service | undefined> {
    if (id === null) return undefined;
    requireScopes(token, ['services:read']);
    const service = isId('svc', id) ? await findService(db, id) : undefined;
    if (service === undefined) throw invalidField('service_id', UNKNOWN_SERVICE);
    requireEnvironment(token, service.environment);
    if (environment !== undefined && environment !== service.environment) {
      const message = 'must be the environment of the service, or be left out';
      throw invalidField('environment', message);
    }
    return service;
  }

  return endpoint({
    method: 'POST',
    path: '/v1/connection-tests',
    operationId: 'testConnections',
    tag: 'Services',
    summary: 'Test the connections to upstreams',
    description:
      'Asks live data planes to connect to the upstreams of a service, and to make one health check of each: without a ' +
      'credential, and with the addresses, the name servers and the TLS settings that requests have. The service need ' +
      'not be stored. Nothing is stored, and no health changes. A token may do so 60 times in a minute.',
    scope: 'services:write',
    rights: 'It needs the scope `services:write`, and with `service_id` also `services:read`.',
    answers: 'one',
    data: connectionTestViewSchema,
    errors: ['data_plane_unavailable', 'resource_unreadable'],
    body: connectionTestSchema(hosts.denied),
    async handle({ token, body, signal }) {
      if (body.environment !== undefined) requireEnvironment(token, body.environment);
      const stored = await storedService(token, body);
      const environment = stored?.environment ?? body.environment ?? onlyEnvironment(token);
      if (stored === undefined) {
        const named = { path: 'environment', message: UNKNOWN_ENVIRONMENT };
        await namedInBody('environment_not_found', named, () => findEnvironment(db, environment));
      }
      const id = stored?.id ?? newId('svc');
      const service = testedService(body, stored, {
        id,
        newUpstreamId: () => newId('ups'),
        secrets: secretsOf(credentials, clock, id),
      });
      const nowMs = clock.monotonicMs();
      const known = dataPlanes.list(nowMs);
      const choice = { known, nowMs, environment, named: body.data_plane };
      const chosen = dataPlanesToTest(choice);
      if (chosen === undefined) throw invalidField('data_plane', unknownDataPlane(choice));
      return allowance.run(token.id, signal, async () => {
        await requireAllowedHosts(urlsOf(body), hosts);
        const askedAtMs = clock.nowMs();
        const question = { askedAtMs, environment, service, keys: masterKeys };
        const results = await askForTests(chosen.asked, question, ask);
        return ok(connectionTestView(environment, service, chosen, results));
      });
    },
  });
}
