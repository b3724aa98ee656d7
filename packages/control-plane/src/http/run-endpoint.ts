import { IDEMPOTENT_REPLAYED } from '@gateway/shared/http/headers';
import { grantsScope } from '@gateway/shared/tokens/scopes';
import type { Request, RequestHandler } from 'express';
import { requireScopes } from '../access/access.ts';
import type { RolloutWaits } from '../data-planes/rollout-waits.ts';
import type { Authenticator, Caller } from './authenticate.ts';
import type { Endpoint } from './endpoint.ts';
import { noneMatches, withoutState } from './etag.ts';
import { runOnce, type IdempotencyStore } from './idempotency/idempotency.ts';
import { jsonParser, readJson } from './read-json.ts';
import { awaitRollout, exchangeOf, noContent, type Exchange, type Responder } from './reply.ts';

/** When the present aliases were deprecated (RFC 9745): 2026-11-24. */
const DEPRECATED_SINCE = '@1795478400';

/**
 * Runs one endpoint. Authentication comes first, so that a refused caller causes no parsing and learns nothing about
 * what exists.
 */
export function runEndpoint(
  endpoint: Endpoint,
  authenticator: Authenticator,
  responder: Responder,
  waits: RolloutWaits,
  keys: IdempotencyStore,
): RequestHandler {
  const parseJson = jsonParser(endpoint.maxBodyBytes);
  return async (request, response) => {
    const exchange = exchangeOf(response);
    if (endpoint.deprecated !== undefined) response.setHeader('deprecation', DEPRECATED_SINCE);
    const caller = await authenticateCall(request, exchange, authenticator);
    if (endpoint.scope !== null) requireScopes(caller.token, [endpoint.scope]);
    const hasBody = endpoint.body !== undefined;
    const body = hasBody ? await readJson(request, response, parseJson) : undefined;
    const call = {
      // A body may arrive long after its head.
      token: hasBody ? await caller.confirmToken() : caller.token,
      confirmToken: caller.confirmToken,
      params: request.params as Record<string, string>,
      body,
      sent: body,
      query: request.query,
      ifMatch: request.headers['if-match'],
      ifNoneMatch: request.headers['if-none-match'],
      requestId: exchange.requestId,
      clientAddress: exchange.clientAddress,
      signal: exchange.signal,
    };
    const key = endpoint.method === 'POST' ? request.get('idempotency-key') : undefined;
    const keyed = { field: key ?? '', method: request.method, target: request.originalUrl };
    const { reply, isReplayed } =
      key === undefined
        ? { reply: await endpoint.run(call), isReplayed: false }
        : await runOnce(keys, keyed, call, endpoint);
    const isRead = endpoint.method === 'GET';
    if (isRead && reply.kind === 'one' && reply.etag !== undefined) {
      if (noneMatches(request.headers['if-none-match'], reply.etag)) {
        responder.notModified(response, reply.etag);
        return;
      }
    }
    const rollout = isRead
      ? {}
      : await awaitRollout(reply, request.get('prefer'), exchange.signal, waits);
    const replayed = isReplayed ? { [IDEMPOTENT_REPLAYED]: 'true' } : {};
    const { token } = call;
    if (
      reply.kind === 'one' &&
      endpoint.seenWith?.some((scope) => !grantsScope(token.scopes, scope))
    ) {
      const etag = reply.etag === undefined ? {} : { etag: withoutState(reply.etag) };
      responder.reply(response, noContent(), { ...rollout, ...replayed, ...etag });
      return;
    }
    responder.reply(response, reply, { ...rollout, ...replayed });
  };
}

/** A session counts only where the console calls, and only without a token. */
function authenticateCall(
  request: Request,
  exchange: Exchange,
  authenticator: Authenticator,
): Promise<Caller> {
  const { authorization } = request.headers;
  const { sessionIds } = exchange;
  return authorization === undefined && sessionIds !== undefined
    ? authenticator.authenticateSession(sessionIds, exchange)
    : authenticator.authenticate(authorization, exchange);
}
