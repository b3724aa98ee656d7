import type { ExplainedStage } from '@gateway/shared/explain/explanation';
import { addressGroup } from '@gateway/shared/net/client-address';
import type { AccessRule } from '../access/access-rules.ts';
import type { Bulkheads } from '../limits/bulkheads.ts';
import { describeBound } from '../nats/bucket-bounds.ts';
import type { RequestContext, TokenField } from '../request/context.ts';
import type { Findings } from './dry-stages.ts';
import { describeAffinity } from './explain-affinity.ts';

export interface ReasonParts {
  readonly bulkheads: Bulkheads;
}

type Reason = (ctx: RequestContext, findings: Findings, parts: ReasonParts) => string;

const NOTHING_SENT = 'Nothing is sent to a service.';

/** Why each stage lets the request continue. */
const REASONS: Readonly<Record<Exclude<ExplainedStage, 'preflight' | 'forward'>, Reason>> = {
  admit: (_ctx, _findings, { bulkheads }) =>
    `The method, the head and the path are accepted, and there is a free slot; ${bulkheads.count} ${bulkheads.count === 1 ? 'is' : 'are'} in use.`,
  resolve_route: describeTarget,
  authenticate: describeCaller,
  authorize: ({ route, method, token }) => {
    const reach = token === undefined ? '' : 'The token covers the environment and the route. ';
    return `${reach}The route ${route?.name ?? ''} accepts ${method}.`;
  },
  pick_version: describeVersion,
  require_credential: ({ version }) =>
    version === undefined
      ? NOTHING_SENT
      : version.service.credential === undefined
        ? 'The service has no credential for its upstreams.'
        : 'This data plane can decrypt the credential of the service.',
  bulkhead: ({ version, table }, _findings, { bulkheads }) => {
    if (version === undefined) return NOTHING_SENT;
    const { service } = version;
    const inFlight = bulkheads.loadOf(service.id).count;
    const max = bulkheads.maxOf(service, table);
    return `The service has ${inFlight} of at most ${max} requests in flight on this data plane.`;
  },
  quota: describeQuota,
  answer: () => 'The route has a service.',
  max_forwards: ({ method }) =>
    method === 'OPTIONS' ? 'Max-Forwards allows another hop.' : `It has no meaning for ${method}.`,
  idempotency: describeKey,
};

/** Why the stage lets the request continue. */
export function reasonToContinue(
  stage: Exclude<ExplainedStage, 'forward'>,
  ctx: RequestContext,
  findings: Findings,
  parts: ReasonParts,
): string {
  // It is only run for requests that it ends.
  if (stage === 'preflight') return '';
  return REASONS[stage](ctx, findings, parts);
}

function describeTarget(ctx: RequestContext): string {
  const { environmentName = '', environment, token, inbound, route, unusableRoute, target } = ctx;
  const only = token?.environments.length === 1 && token.environments[0] !== '*';
  const source =
    target.hostEnvironment !== undefined
      ? 'that of the host'
      : only && token.environments[0] === environmentName
        ? 'the only one of the token'
        : inbound.environment === environmentName
          ? 'named by X-Gateway-Environment'
          : 'the default of this data plane';
  const where = `The environment is ${environmentName}, ${source}`;
  if (environment === undefined) return `${where}; this data plane serves no such environment.`;
  if (unusableRoute !== undefined) {
    return `${where}; this data plane cannot use the route ${target.routeName} of its version ${environment.version}: ${unusableRoute.reason}.`;
  }
  if (target.routeName === '') return `${where}; no way to a route takes the request.`;
  return route === undefined
    ? `${where}; it has no active route ${target.routeName}.`
    : `${where}; its version ${environment.version} has the route ${route.name}.`;
}

function describeCaller(ctx: RequestContext): string {
  const { route, unusableRoute, token, jwt, tokenField } = ctx;
  if ((route ?? unusableRoute)?.auth?.type === 'none')
    return 'The route requires no authentication.';
  if (jwt !== undefined) return 'The JWT is valid, and has the claims that the route requires.';
  return `The token ${token?.id ?? ''} is valid, and comes in ${headerName(tokenField)}.`;
}

function describeVersion(ctx: RequestContext): string {
  const { affinity } = ctx;
  const version = describeChosenVersion(ctx);
  return affinity === undefined ? version : `${version} ${describeAffinity(affinity)}`;
}

function describeChosenVersion(ctx: RequestContext): string {
  const { route, version, inbound, principal, clientIp, affinity } = ctx;
  if (version === undefined) return 'The route has no service: it answers itself.';
  const service = `the service ${version.service.name}`;
  if (route?.versions.length === 1) return `The route has one version, ${service}.`;
  const name = `The version ${version.name ?? ''}, ${service},`;
  if (inbound.version !== undefined) return `${name} is named by X-Gateway-Version.`;
  if (affinity?.upstream !== undefined) return `${name} has the session of the request.`;
  const address = affinity?.caller === undefined ? `address ${addressGroup(clientIp)}` : 'session';
  const caller = principal === undefined ? address : 'caller';
  return `${name} is chosen by weight, and always the same for this ${caller} while the weights stay.`;
}

function describeQuota({ route }: RequestContext, { quota }: Findings): string {
  if (quota === undefined || route === undefined) return 'The route has no quota.';
  const left = `${quota.remaining} remain of ${quota.limit} after it`;
  switch (quota.basis) {
    case 'lease':
      return `This data plane holds a lease of ${quota.leased} requests; ${left}.`;
    case 'ledger':
      return `This data plane would take a lease first; ${left}.`;
    case 'others':
      return 'The rest of the window is reserved for other data planes. The request waits until they were asked for it, and is refused if they need it.';
    case 'bound':
      return `NATS stores no quota of a new caller now, because ${describeBound(quota.bound ?? 'bucket')}. So this data plane grants from its reserve; ${left}.`;
    case 'used_up':
    case 'reserve':
      return `There is no lease now, so this data plane grants from its reserve; ${left}.`;
  }
}

function describeKey({ inbound, idempotency }: RequestContext, { key }: Findings): string {
  if (idempotency === 'passed_on') {
    return 'idempotency.mode of the route is off: the key is for the upstream, and the gateway does not store it.';
  }
  if (inbound.idempotencyKey === undefined) return 'The request has no idempotency key.';
  if (key === undefined || key === 'unavailable' || key.kind !== 'claim') return '';
  return CLAIM_REASONS[key.after];
}

const CLAIM_REASONS = {
  nothing: 'The key is free. The request claims it before it is sent.',
  expiry: 'The key is free. The request claims it before it is sent.',
  repeatable:
    'The last request with this key was answered with a status of idempotency.repeatable_statuses, so this one runs again.',
  unknown:
    'The outcome of the first request with this key is unknown, and the route forwards it again.',
} as const;

const RULES: Readonly<Record<AccessRule, string>> = {
  no_credential: 'it has neither Authorization nor X-API-Key',
  two_tokens: 'it has a token in Authorization and a different one in X-API-Key',
  no_token_in_credential: 'what it presents is no credential of the kind that the route requires',
  token_unknown: 'the token does not exist, or was revoked',
  token_in_other_header: 'the token is in another header than the one that the route requires',
  token_expired: 'the token has expired',
  jwt_of_other_issuer: 'the JWT is malformed, or its `iss` is not `auth.issuer` of the route',
  jwt_not_verified: 'no key of the issuer signed the JWT',
  jwt_not_checked:
    'the address has failed too often, so the signature of the JWT is not checked now',
  jwt_refused: 'the issuer signed the JWT, but the route does not accept it',
  scope_missing: 'the token lacks the scope proxy',
  environment_not_covered: 'the token does not cover the environment',
  environment_of_other_host: 'the routes that name the host are of another environment',
  no_route_of_host: 'no route of the host takes the request',
  route_not_covered: 'the token does not cover the route',
};

/** Why the rule refuses the caller, in words. */
export function reasonOfRule(rule: AccessRule): string {
  return RULES[rule];
}

const TOKEN_FIELDS: Readonly<Record<TokenField, string>> = {
  authorization: 'Authorization',
  'x-api-key': 'X-API-Key',
  both: 'Authorization and X-API-Key',
};

function headerName(field: RequestContext['tokenField']): string {
  return field === undefined ? '' : TOKEN_FIELDS[field];
}
