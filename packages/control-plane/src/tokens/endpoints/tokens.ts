import {
  createTokenSecret,
  hashTokenSecretBytes,
  secretPrefix,
} from '@gateway/shared/tokens/secret';
import { requireTokenReach } from '../../access/access.ts';
import { requireOutlivedBy, requirePresentSecret, type CallerToken } from '../../access/caller.ts';
import {
  callerView,
  callerViewSchema,
  rotationSchema,
  tokenChangeSchema,
  tokenInputSchema,
  tokenSentBack,
  tokenView,
  tokenViewSchema,
  tokenWithSecretSchema,
  type Token,
} from '../token.ts';
import { dropUnchanged } from '../../fields/round-trip.ts';
import { createToken, revokeToken, rotateToken, updateToken } from '../store/change-tokens.ts';
import { findLiveToken, findToken, tokenNotFound } from '../../access/store/find-tokens.ts';
import { listTokensEndpoint } from './list-tokens.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { invalidField, pathId } from '../../http/input.ts';
import { idParameter } from '../../http/path-parameters.ts';
import { concerning, created, noContent, ok } from '../../http/reply.ts';
import { originOf } from '../../http/change-origin.ts';
import { expiryOf, requireExpiry, routesOf } from './new-token.ts';
import { UNKNOWN_ENVIRONMENT } from '../../http/missing-reference.ts';
import type { ResourceDeps } from '../../http/resource-deps.ts';

const PATH = '/v1/tokens';

const tokenIdParameter = idParameter('tok', 'The id of the token.');

/** The endpoints of tokens. A token can only grant, read and change tokens without more rights than its own. */
export function tokenEndpoints(deps: ResourceDeps): Endpoint[] {
  const { db, clock, newId } = deps;
  const requireSecretOf = async (caller: CallerToken, id: string) => {
    const token = await findLiveToken(db, id);
    if (token !== undefined) requireSecretRight(caller, token);
    return token !== undefined;
  };

  const create = endpoint({
    method: 'POST',
    path: PATH,
    operationId: 'createToken',
    tag: 'Tokens',
    summary: 'Create a token',
    description:
      'Creates a token. Only this response contains its secret. A token cannot grant rights that it does not have.',
    scope: 'tokens:write',
    answers: 'created',
    data: tokenWithSecretSchema,
    errors: ['name_conflict', 'idempotency_secret_gone'],
    requireSecretOf,
    body: tokenInputSchema,
    async handle(call) {
      const { token, body } = call;
      const { name, environments, scopes } = body;
      const reach = { environments, scopes, routes: routesOf(body, token) };
      requireTokenReach(token, reach);
      const secret = createTokenSecret();
      const made = await createToken(
        db,
        {
          id: newId('tok'),
          name,
          ...reach,
          secret_sha256: hashTokenSecretBytes(secret),
          secret_prefix: secretPrefix(secret),
          expires_at: expiryOf(body, token, new Date(clock.nowMs())),
          created_by: token.id,
        },
        originOf(deps, call),
        (missing) =>
          invalidField(`environments.${environments.indexOf(missing)}`, UNKNOWN_ENVIRONMENT),
      );
      const reply = created({ ...tokenView(made), secret }, `${PATH}/${made.id}`);
      return concerning(made.environments, reply);
    },
  });

  const read = endpoint({
    method: 'GET',
    path: `${PATH}/{id}`,
    operationId: 'getToken',
    tag: 'Tokens',
    summary: 'Read a token',
    description: 'Returns one token, without its secret.',
    params: { id: tokenIdParameter },
    scope: 'tokens:read',
    answers: 'one',
    data: tokenViewSchema,
    errors: ['token_not_found', 'resource_unreadable'],
    async handle({ token, params }) {
      const found = await findToken(db, tokenId(params));
      requireTokenReach(token, found);
      return ok(tokenView(found));
    },
  });

  const change = endpoint({
    method: 'PATCH',
    path: `${PATH}/{id}`,
    operationId: 'updateToken',
    tag: 'Tokens',
    summary: 'Change a token',
    description: 'Changes the name or the expiry of a token. Its rights and its secret stay.',
    params: { id: tokenIdParameter },
    scope: 'tokens:write',
    answers: 'one',
    data: tokenViewSchema,
    errors: ['token_not_found', 'name_conflict', 'resource_unreadable'],
    body: tokenChangeSchema,
    async prepare({ token, params, sent }) {
      const found = await findToken(db, tokenId(params));
      requireTokenReach(token, found);
      return dropUnchanged(sent, tokenSentBack(found, sent), new Set());
    },
    async handle(call) {
      const { params, body } = call;
      const expires_at =
        typeof body.expires_at === 'string' ? new Date(body.expires_at) : body.expires_at;
      const changes = { name: body.name, expires_at };
      const id = tokenId(params);
      const origin = originOf(deps, call);
      const changed = await updateToken(db, id, origin, changes, (current, caller) => {
        requireTokenReach(caller, current);
        if (expires_at === undefined) return;
        if (expires_at?.getTime() === current.expires_at?.getTime()) return;
        requireExpiry(expires_at, caller, new Date(clock.nowMs()));
      });
      return concerning(changed.environments, ok(tokenView(changed)));
    },
  });

  const revoke = endpoint({
    method: 'DELETE',
    path: `${PATH}/{id}`,
    operationId: 'revokeToken',
    tag: 'Tokens',
    summary: 'Revoke a token',
    description: 'Revokes a token. It cannot be restored.',
    params: { id: tokenIdParameter },
    scope: 'tokens:write',
    answers: 'none',
    errors: ['token_not_found'],
    async handle(call) {
      const { params } = call;
      const id = tokenId(params);
      const origin = originOf(deps, call);
      const { environments } = await revokeToken(db, id, origin, (current, caller) => {
        requireTokenReach(caller, current);
      });
      return concerning(environments, noContent());
    },
  });

  const rotate = endpoint({
    method: 'POST',
    path: `${PATH}/{id}/rotate`,
    operationId: 'rotateToken',
    tag: 'Tokens',
    summary: 'Give a token a new secret',
    description:
      'Replaces the secret of a token. The old secret stays valid for `grace_seconds`. Only this response contains ' +
      'the new secret.',
    params: { id: tokenIdParameter },
    scope: 'tokens:write',
    answers: 'one',
    data: tokenWithSecretSchema,
    errors: ['token_not_found', 'idempotency_secret_gone'],
    requireSecretOf,
    body: rotationSchema,
    async handle(call) {
      const { params, body } = call;
      const secret = createTokenSecret();
      const rotation = {
        secretSha256: hashTokenSecretBytes(secret),
        secretPrefix: secretPrefix(secret),
        graceEnd: new Date(clock.nowMs() + body.grace_seconds * 1000),
      };
      const origin = originOf(deps, call);
      const id = tokenId(params);
      const rotated = await rotateToken(db, id, rotation, origin, (current, caller) => {
        requireSecretRight(caller, current);
      });
      return concerning(rotated.environments, ok({ ...tokenView(rotated), secret }));
    },
  });

  const whoami = endpoint({
    method: 'GET',
    path: '/v1/whoami',
    operationId: 'getCaller',
    tag: 'Tokens',
    summary: 'Show the token of the call',
    description:
      'Shows the token of the call: its name, its reach, its scopes and when it expires.',
    scope: null,
    answers: 'one',
    data: callerViewSchema,
    errors: [],
    async handle({ token }) {
      return ok(callerView(await findToken(db, token.id), token.expires_at));
    },
  });

  return [whoami, listTokensEndpoint(deps), create, read, change, revoke, rotate];
}

/** The caller may get the secret of a token. @throws GatewayError authentication_failed */
function requireSecretRight(caller: CallerToken, token: Token): void {
  requireTokenReach(caller, token);
  requirePresentSecret(caller);
  requireOutlivedBy(token.expires_at, caller);
}

function tokenId(params: Readonly<Record<string, string>>): string {
  return pathId(params, 'tok', tokenNotFound);
}
