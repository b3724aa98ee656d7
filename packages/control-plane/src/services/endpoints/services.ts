import { grantsScope } from '@gateway/shared/tokens/scopes';
import type { CredentialVault } from '@gateway/shared/secrets/upstream-credential';
import { requireEnvironment } from '../../access/access.ts';
import {
  changeService,
  MERGED_SERVICE_FIELDS,
  serviceSchemas,
  serviceView,
  serviceViewSchema,
  type Service,
  type ServiceView,
} from '../service.ts';
import {
  CHECK_TYPE_FAULT,
  isCheckContradiction,
  timeoutFault,
} from '@gateway/shared/definitions/service-health-check';
import { websocketProtocolFault } from '@gateway/shared/definitions/service-protocol';
import { dropUnchanged } from '../../fields/round-trip.ts';
import { urlFault } from '../service-upstreams.ts';
import { findService, serviceNotFound } from '../store/services.ts';
import { serviceWith } from '../../configuration/row-change.ts';
import { changeRow, createRow } from '../../configuration/store/change-row.ts';
import { endpoint, type Call, type Endpoint } from '../../http/endpoint.ts';
import { etagOf, requireMatch } from '../../http/etag.ts';
import { invalidField, parseInput } from '../../http/input.ts';
import { idParameter } from '../../http/path-parameters.ts';
import { concerning, created, noContent, ok } from '../../http/reply.ts';
import { requireAllowedHosts, type HostRules } from '../../hosts/allowed-hosts.ts';
import { originOf } from '../../http/change-origin.ts';
import { namedInBody, UNKNOWN_ENVIRONMENT } from '../../http/missing-reference.ts';
import { NONE_KEPT, replaceService } from '../replace-service.ts';
import { listServicesEndpoint, type ReportedStatuses } from './list-services.ts';
import { secretsOf } from './service-secrets.ts';
import { onlyEnvironment, serviceId, urlsOf } from './service-input.ts';
import type { ResourceDeps } from '../../http/resource-deps.ts';

const PATH = '/v1/services';

const serviceIdParameter = idParameter('svc', 'The id of the service.');

export interface ServiceEndpointOptions extends ReportedStatuses {
  readonly hosts: HostRules;
  readonly credentials: CredentialVault;
}

/** The endpoints of services. */
export function serviceEndpoints(deps: ResourceDeps, options: ServiceEndpointOptions): Endpoint[] {
  const { db, clock, newId } = deps;
  const schemas = serviceSchemas(options.hosts.denied);
  const newUpstreamId = () => newId('ups');
  const secrets = (id: string) => secretsOf(options.credentials, clock, id);

  /** The status is read once, so that the tag names the status that the body shows. */
  function represent(service: Service) {
    const status = options.statusOf(service.id);
    return { data: serviceView(service, status), etag: etagOf(service, status) };
  }

  async function existingService(id: string): Promise<Service> {
    const service = await findService(db, id);
    if (service === undefined) throw serviceNotFound();
    return service;
  }

  const create = endpoint({
    method: 'POST',
    path: PATH,
    operationId: 'createService',
    tag: 'Services',
    summary: 'Create a service',
    description: 'Creates a service. `environment` may be left out if the token covers only one.',
    etag: true,
    scope: 'services:write',
    answers: 'created',
    data: serviceViewSchema,
    errors: ['name_conflict'],
    body: schemas.create,
    async handle(call) {
      const { token, body } = call;
      const environment = body.environment ?? onlyEnvironment(token);
      requireEnvironment(token, environment);
      await requireAllowedHosts(urlsOf(body), options.hosts);
      const id = newId('svc');
      const settings = replaceService(null, body, NONE_KEPT, newUpstreamId, secrets(id));
      const row = serviceWith(settings, { id, environment }, null);
      const named = { path: 'environment', message: UNKNOWN_ENVIRONMENT };
      const service = await namedInBody('environment_not_found', named, () =>
        createRow(db, originOf(deps, call), 'service', row),
      );
      const { data, etag } = represent(service);
      return concerning([environment], created(data, `${PATH}/${service.id}`, etag));
    },
  });

  const read = endpoint({
    method: 'GET',
    path: `${PATH}/{id}`,
    operationId: 'getService',
    tag: 'Services',
    summary: 'Read a service',
    description: 'Returns one service.',
    params: { id: serviceIdParameter },
    etag: true,
    scope: 'services:read',
    answers: 'one',
    data: serviceViewSchema,
    errors: ['service_not_found', 'resource_unreadable'],
    async handle({ token, params }) {
      const service = await existingService(serviceId(params));
      requireEnvironment(token, service.environment);
      const { data, etag } = represent(service);
      return ok(data, etag);
    },
  });

  const change = endpoint({
    method: 'PATCH',
    path: `${PATH}/{id}`,
    operationId: 'updateService',
    tag: 'Services',
    summary: 'Change a service',
    description:
      'Changes the fields that are in the body. Objects are merged (RFC 7396), lists are replaced. ' +
      'A body may have all fields that GET shows: those that are unchanged do nothing.',
    params: { id: serviceIdParameter },
    etag: true,
    scope: 'services:write',
    answers: 'one',
    seenWith: ['services:read'],
    data: serviceViewSchema,
    errors: ['service_not_found', 'name_conflict', 'precondition_failed', 'resource_unreadable'],
    body: schemas.change,
    async prepare({ token, params, sent }) {
      const service = await existingService(serviceId(params));
      requireEnvironment(token, service.environment);
      return edited({ token, sent }, represent(service).data);
    },
    async handle(call) {
      const { token, params, body, sent, ifMatch } = call;
      const id = serviceId(params);
      // The health is no setting, and it was right when the call came.
      const { status } = sent as Pick<ServiceView, 'status'>;
      await requireAllowedHosts(urlsOf(body), options.hosts);
      const origin = originOf(deps, call);
      const service = await changeRow(db, origin, 'service', id, (current) => {
        requireEnvironment(token, current.environment);
        requireMatch(ifMatch, current);
        // The row may have changed while the call waited. What it had before is then no longer unchanged.
        const shown = { ...represent(current).data, status };
        const given = parseInput(schemas.change, edited(call, shown));
        const refused = urlFault(given, current.upstreams);
        if (refused !== undefined) throw invalidField('url', refused);
        const { seal, sealTls } = secrets(id);
        const changed = changeService(current, given, newUpstreamId, seal, sealTls);
        const fault = given.health_check && timeoutFault(changed.health_check);
        if (fault !== undefined) throw invalidField('health_check.timeout_ms', fault);
        const contradiction = websocketProtocolFault(changed);
        if (contradiction !== undefined) throw invalidField('websocket_protocol', contradiction);
        if (isCheckContradiction(changed.health_check, changed.protocol)) {
          throw invalidField('health_check.type', CHECK_TYPE_FAULT);
        }
        return serviceWith(changed, current, current);
      });
      const { data, etag } = represent(service);
      return concerning([service.environment], ok(data, etag));
    },
  });

  const remove = endpoint({
    method: 'DELETE',
    path: `${PATH}/{id}`,
    operationId: 'deleteService',
    tag: 'Services',
    summary: 'Delete a service',
    description: 'Deletes a service. A service that a route uses cannot be deleted.',
    params: { id: serviceIdParameter },
    scope: 'services:write',
    answers: 'none',
    errors: ['service_not_found', 'service_in_use', 'precondition_failed'],
    async handle(call) {
      const { token, params, ifMatch } = call;
      const origin = originOf(deps, call);
      const { environment } = await changeRow(
        db,
        origin,
        'service',
        serviceId(params),
        (current) => {
          requireEnvironment(token, current.environment);
          requireMatch(ifMatch, current);
          return null;
        },
      );
      return concerning([environment], noContent());
    },
  });

  return [listServicesEndpoint(deps, options), create, read, change, remove];
}

/** The body of a PATCH without what is as the response shows it. */
function edited(
  { token, sent }: Pick<Call<unknown, unknown>, 'token' | 'sent'>,
  shown: ServiceView,
) {
  if (!grantsScope(token.scopes, 'services:read')) return sent;
  return dropUnchanged(sent, shown, MERGED_SERVICE_FIELDS);
}
