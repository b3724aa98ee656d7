import { grantsScope } from '@gateway/shared/tokens/scopes';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { displayNameField, environmentNameField } from '@gateway/shared/definitions/fields';
import { credentialFault, replaceService, type KeptSecrets } from '../replace-service.ts';
import { dropReadOnly } from '../../fields/round-trip.ts';
import {
  READ_ONLY_SERVICE_FIELDS,
  serviceSchemas,
  serviceView,
  serviceViewSchema,
  type Service,
} from '../service.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { etagOf, requirePutMatch } from '../../http/etag.ts';
import { invalidField } from '../../http/input.ts';
import { nameParameter } from '../../http/path-parameters.ts';
import { concerning, created, ok } from '../../http/reply.ts';
import { serviceWith } from '../../configuration/row-change.ts';
import { putRow } from '../../configuration/store/change-row.ts';
import { listServices } from '../store/services.ts';
import { requireAllowedHosts } from '../../hosts/allowed-hosts.ts';
import { originOf } from '../../http/change-origin.ts';
import { requireNameOf, targetEnvironment, targetName } from './put-target.ts';
import type { ResourceDeps } from '../../http/resource-deps.ts';
import { secretsOf } from './service-secrets.ts';
import { urlsOf } from './service-input.ts';
import type { ServiceEndpointOptions } from './services.ts';

const PATH = '/v1/services';
const SENT_BACK = [...READ_ONLY_SERVICE_FIELDS, 'credential', 'tls.client_certificate'];

const query = z.strictObject({
  environment: environmentNameField.optional().meta({
    description: 'The environment of the service. It may be left out if the token covers only one.',
    examples: ['production'],
  }),
});

/** `PUT /v1/services/{name}`: creates or replaces a service by its name. */
export function putServiceEndpoint(
  deps: ResourceDeps,
  { hosts, credentials, statusOf }: ServiceEndpointOptions,
): Endpoint {
  const { db, clock, newId } = deps;
  const view = (service: Service) => serviceView(service, statusOf(service.id));

  return endpoint({
    method: 'PUT',
    path: `${PATH}/{id}`,
    operationId: 'putService',
    tag: 'Services',
    summary: 'Create or replace a service by name',
    description:
      'Creates the service of this name, or replaces all its settings: a setting that is left out gets its default, ' +
      'and a `credential` that is left out is removed. The same body again changes nothing. ' +
      'A body may have what GET shows: a credential as it is shown stays. ' +
      '`If-None-Match: *` only creates, `If-Match` only replaces.',
    params: { id: nameParameter('The name of the service.', 'payments') },
    query,
    etag: true,
    scope: 'services:write',
    answers: 'one or created',
    seenWith: ['services:read'],
    data: serviceViewSchema,
    errors: ['environment_not_found', 'precondition_failed', 'resource_unreadable'],
    body: serviceSchemas(hosts.denied).replace,
    async prepare({ token, params, query: given, sent }) {
      const environment = targetEnvironment(given, token);
      const name = targetName(params, displayNameField, 'svc');
      if (!grantsScope(token.scopes, 'services:read')) return sent;
      const { rows } = await listServices(db, {
        environments: undefined,
        environment,
        name,
        limit: 1,
      });
      const [current] = rows;
      if (current === undefined) return sent;
      return dropReadOnly(sent, view(current), SENT_BACK);
    },
    async handle(call) {
      const { token, params, body, sent } = call;
      const environment = targetEnvironment(call.query, token);
      const name = targetName(params, displayNameField, 'svc');
      requireNameOf({ name, environment }, body);
      await requireAllowedHosts(urlsOf(body), hosts);
      const newServiceId = newId('svc');
      const at = { environment, name };
      const { row, isNew } = await putRow(db, originOf(deps, call), 'service', at, (current) => {
        requirePutMatch(call, current ?? undefined);
        const kept = keptSecrets(sent, body);
        // Since `prepare`, the service may have been changed, or replaced by another one of its name.
        if (!isStillShown(sent, kept, current === null ? undefined : view(current))) {
          throw invalidField('credential', 'has no secret, and is not the one of the service now');
        }
        const identity = current ?? { id: newServiceId, environment };
        const secrets = secretsOf(credentials, clock, identity.id);
        const replacement = { ...body, name };
        const newUpstreamId = () => newId('ups');
        const settings = replaceService(current, replacement, kept, newUpstreamId, secrets);
        const fault = credentialFault(current, settings, kept);
        if (fault !== undefined) throw invalidField('credential', fault);
        return serviceWith(settings, identity, current);
      });
      const etag = etagOf(row, statusOf(row.id));
      const reply = isNew ? created(view(row), `${PATH}/${row.id}`, etag) : ok(view(row), etag);
      return concerning([environment], reply);
    },
  });
}

interface WithSecrets {
  readonly credential?: unknown;
  readonly tls?: { readonly client_certificate?: unknown } | null | undefined;
}

const certificateOf = ({ tls }: WithSecrets) => tls?.client_certificate ?? null;

/** The secrets that `prepare` left out of the body, because they were sent as they are shown. */
function keptSecrets(sent: unknown, body: WithSecrets): KeptSecrets {
  const given = sent as WithSecrets;
  return {
    credential: (given.credential ?? null) !== null && body.credential === undefined,
    clientCertificate: certificateOf(given) !== null && certificateOf(body) === null,
  };
}

/** Whether the service has the secrets that stay, as they were sent. */
function isStillShown(sent: unknown, kept: KeptSecrets, shown: WithSecrets | undefined): boolean {
  const given = sent as WithSecrets;
  const now: WithSecrets = shown ?? {};
  return (
    (!kept.credential || isDeepStrictEqual(given.credential, now.credential)) &&
    (!kept.clientCertificate || isDeepStrictEqual(certificateOf(given), certificateOf(now)))
  );
}
