import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { Scope } from '@gateway/shared/tokens/scopes';
import type { CredentialVault } from '@gateway/shared/secrets/upstream-credential';
import {
  reachFault,
  refuseAccess,
  requireEnvironment,
  requireRoute,
  requireScopes,
} from '../../access/access.ts';
import {
  applySchema,
  documentFault,
  type ApplyDocument,
  type DeclaredService,
} from '../apply-document.ts';
import { servicesIn, withoutDocumentReferences } from '../document-references.ts';
import { applyView, applyViewSchema } from '../apply-view.ts';
import { exportView, exportViewSchema } from '../export-view.ts';
import { planApply, type ApplyPlan, type EnvironmentRows } from '../plan-apply.ts';
import { referencesOf } from '../../services/secret-references.ts';
import { endpoint, type Call, type Endpoint } from '../../http/endpoint.ts';
import type { CallerToken } from '../../access/caller.ts';
import { invalidField, invalidRequest } from '../../http/input.ts';
import { nameParameter } from '../../http/path-parameters.ts';
import { concerning, ok } from '../../http/reply.ts';
import { readEnvironmentRows, readRowsAgain, type RowsThen } from '../store/apply.ts';
import { changeRows, planRows, type RowsChange } from '../store/change-rows.ts';
import { requireAllowedHosts, type HostRules, type UrlOfBody } from '../../hosts/allowed-hosts.ts';
import { originOf } from '../../http/change-origin.ts';
import { environmentName } from '../../environments/endpoints/environments.ts';
import type { ResourceDeps } from '../../http/resource-deps.ts';
import { secretsOf } from '../../services/endpoints/service-secrets.ts';

const PATH = '/v1/environments/{name}';
/** About 10 000 routes, or a few hundred services with certificates. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;
/** The largest number of services that an error names. */
const SHOWN_SERVICES = 10;

const params = { name: nameParameter('The name of the environment.', 'production') };

export interface ApplyDeps extends ResourceDeps {
  readonly hosts: HostRules;
  readonly credentials: CredentialVault;
}

/** Apply and export of the services and routes of an environment; see docs/use/apply.md. */
export function applyEndpoints(deps: ApplyDeps): readonly Endpoint[] {
  const { db, clock, newId, hosts, credentials } = deps;

  const apply = endpoint({
    method: 'POST',
    path: `${PATH}/apply`,
    operationId: 'applyEnvironment',
    tag: 'Configuration',
    summary: 'Apply services and routes',
    description:
      'Makes services and routes as the document declares them, by name, and shows the exact difference. ' +
      'All changes are one transaction and one version of the configuration, or nothing is changed. ' +
      'The same document again changes nothing. The path of a detail of an error is a JSON pointer into the document.',
    rights:
      'It needs the scopes `services:write` and `routes:write`; for a dry run `services:read` and `routes:read`, and ' +
      '`services:write` if the document has a secret, because the difference says whether it is the stored one. ' +
      'The token must cover each route of the document, and to prune all routes.',
    params,
    scope: null,
    answers: 'one',
    seenWith: ['services:read', 'routes:read'],
    data: applyViewSchema,
    errors: ['environment_not_found', 'service_in_use', 'match_conflict', 'precondition_failed'],
    body: applySchema(hosts.denied, hosts.reserved),
    maxBodyBytes: MAX_BODY_BYTES,
    describeFault: documentFault,
    prepare({ token, params: given, sent }) {
      // A caller without rights learns nothing about its document.
      requireScopes(token, scopesOf((sent as { dry_run?: unknown } | undefined)?.dry_run === true));
      requireEnvironment(token, environmentName(given));
      return Promise.resolve(withoutDocumentReferences(sent));
    },
    async handle(call) {
      const { body: document } = call;
      const environment = environmentName(call.params);
      requireRights(call.token, environment, document);
      if (document.environment !== undefined && document.environment !== environment) {
        throw invalidField('/environment', 'must be the environment in the path');
      }
      const target = { environment, ifVersion: document.if_version };
      const known = await readEnvironmentRows(db, target);
      await requireAllowedHosts(newUrls(known, document), hosts);
      const references = referencesIn(call);
      const secrets = (id: string) => secretsOf(credentials, clock, id);
      const plan = (rows: EnvironmentRows) => {
        const input = { environment, document, references, newId, secretsOf: secrets };
        const planned = planApply(rows, input);
        requireSound(planned, call.token, environment);
        return planned.changes;
      };
      // A large document takes long. Other changes do not wait for its plan, only for its rows.
      const planned = plan(known);
      const change: RowsChange<RowsThen> = {
        lock: 'configuration-exclusive',
        read: (transaction, isDry) => readRowsAgain(transaction, target, known, isDry),
        plan: (rows) => (rows === known ? planned : plan(rows)),
      };
      const dryRun = document.dry_run;
      const make = dryRun ? planRows : changeRows;
      const { read, changes } = await make<RowsThen>(db, originOf(deps, call), change);
      const reply = ok(applyView(environment, document, read, changes));
      return dryRun ? reply : concerning([environment], reply);
    },
  });

  const dump = endpoint({
    method: 'GET',
    path: `${PATH}/export`,
    operationId: 'exportEnvironment',
    tag: 'Configuration',
    summary: 'Export services and routes',
    description:
      'Returns the services and routes of an environment as apply takes them, by name, without defaults. ' +
      'Secrets are references such as `${PAYMENTS_TOKEN}`; an apply that has a reference keeps the secret. ' +
      'Routes that the token does not cover are left out.',
    rights: 'It needs the scopes `services:read` and `routes:read`.',
    params,
    scope: null,
    answers: 'one',
    data: exportViewSchema,
    errors: ['environment_not_found'],
    async handle({ token, params: given }) {
      const environment = environmentName(given);
      requireScopes(token, ['services:read', 'routes:read']);
      requireEnvironment(token, environment);
      const { services, routes } = await readEnvironmentRows(db, { environment });
      const covered = routes.filter(
        ({ name }) => reachFault(token, { environment, route: name }) === undefined,
      );
      return ok(exportView(environment, { services, routes: covered }));
    },
  });

  return [apply, dump];
}

function scopesOf(dryRun: boolean): readonly Scope[] {
  return dryRun ? ['services:read', 'routes:read'] : ['services:write', 'routes:write'];
}

/** @throws GatewayError authentication_failed */
function requireRights(token: CallerToken, environment: string, document: ApplyDocument): void {
  requireScopes(token, scopesOf(document.dry_run));
  // The difference confirms a guess of a secret; who may change the service could have it sent anywhere.
  if (document.services?.some(hasSecret)) requireScopes(token, ['services:write']);
  for (const { name } of document.routes ?? []) requireRoute(token, environment, name);
  if (document.prune && document.routes !== undefined && !token.routes.includes('*')) {
    throw refuseAccess('Only a token for all routes can prune routes.');
  }
}

/** Whether a service of a document has a secret that is not a reference. */
function hasSecret({ credential, tls }: DeclaredService): boolean {
  return Boolean(credential ?? tls?.client_certificate);
}

function referencesIn({ sent }: Call<unknown, unknown>) {
  return servicesIn(sent).map(referencesOf);
}

/** The URLs of a document that the environment does not have yet; the others have passed the check. */
function newUrls(known: EnvironmentRows, document: ApplyDocument): readonly UrlOfBody[] {
  const { services, routes } = known;
  const stored = new Set([
    ...services.flatMap(({ upstreams }) => upstreams.map(({ url }) => url)),
    ...routes.flatMap(({ auth }) => (auth.type === 'jwt' ? [auth.jwks_url] : [])),
  ]);
  const given = [
    ...(document.services ?? []).flatMap(({ url, upstreams }, at) => [
      ...(url === undefined ? [] : [{ path: `/services/${at}/url`, url }]),
      ...(upstreams ?? []).map((upstream, index) => {
        return { path: `/services/${at}/upstreams/${index}/url`, url: upstream.url };
      }),
    ]),
    ...(document.routes ?? []).flatMap(({ auth }, at) =>
      auth.type === 'jwt' ? [{ path: `/routes/${at}/auth/jwks_url`, url: auth.jwks_url }] : [],
    ),
  ];
  return given.filter(({ url }) => !stored.has(url));
}

/** @throws GatewayError invalid_request; service_in_use, which names only routes that the token covers */
function requireSound(
  { faults, stillUsed }: ApplyPlan,
  token: CallerToken,
  environment: string,
): void {
  if (faults.length > 0) throw invalidRequest(faults);
  if (stillUsed.length === 0) return;
  const uses = stillUsed.map(({ service, route }) => {
    const isCovered = reachFault(token, { environment, route }) === undefined;
    const by = isCovered ? `the route ${route}` : 'a route that the token does not cover';
    return `${service} (by ${by})`;
  });
  const named = [...new Set(uses)];
  const more = named.length > SHOWN_SERVICES ? ' and more' : '';
  throw new GatewayError(
    'service_in_use',
    `Routes that stay use services that would be pruned: ${named.slice(0, SHOWN_SERVICES).join(', ')}${more}.`,
  );
}
