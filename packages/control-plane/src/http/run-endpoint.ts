import { isUtf8 } from 'node:buffer';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { IDEMPOTENT_REPLAYED } from '@gateway/shared/http/headers';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { requireScopes } from '../domain/access.ts';
import type { RolloutWaits } from '../fleet/rollout-waits.ts';
import type { Authenticator } from './authenticate.ts';
import type { Endpoint } from './endpoint.ts';
import { noneMatches } from './etag.ts';
import { runOnce, type IdempotencyStore } from './idempotency.ts';
import { awaitRollout, exchangeOf, type Responder } from './reply.ts';

const JSON_TYPES = ['application/json', 'application/*+json'];

/** When the present aliases were deprecated (RFC 9745): 2026-11-24. */
const DEPRECATED_SINCE = '@1795478400';

function jsonParser(maxBytes: number): RequestHandler {
  return express.json({ limit: maxBytes, type: JSON_TYPES, verify: requireUtf8 }) as RequestHandler;
}

/**
 * JSON is UTF-8 (RFC 8259 section 8.1). The parser would silently replace invalid bytes, and a different credential
 * than the caller's would be stored.
 */
function requireUtf8(_request: unknown, _response: unknown, body: Buffer, charset: string): void {
  if (charset !== 'utf-8') throw namedError('charset.unsupported');
  if (!isUtf8(body)) throw namedError('body.not.utf8');
}

/** An error like those of the body parser. to-gateway-error.ts maps both. */
function namedError(type: string): Error {
  return Object.assign(new Error(type), { type });
}

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
    const token = await authenticator.authenticate(request.headers.authorization, exchange);
    if (endpoint.scope !== null) requireScopes(token, [endpoint.scope]);
    const body =
      endpoint.body === undefined ? undefined : await readJson(request, response, parseJson);
    const call = {
      token,
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
        : await runOnce(keys, keyed, call, endpoint.run);
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
    responder.reply(response, reply, { ...rollout, ...replayed });
  };
}

/** Another label of UTF-8 (WHATWG Encoding section 4.2), which the parser does not know. */
const UTF8_LABEL = /(;[ \t]*charset=)"?utf8"?(?=[ \t]*(?:;|$))/i;

async function readJson(
  request: Request,
  response: Response,
  parseJson: RequestHandler,
): Promise<unknown> {
  if (hasBody(request) && request.is(JSON_TYPES) === false) {
    throw new GatewayError('unsupported_media_type', 'The body must be application/json.');
  }
  const type = request.headers['content-type'];
  if (type !== undefined) request.headers['content-type'] = type.replace(UTF8_LABEL, '$1utf-8');
  await new Promise<void>((resolve, reject) => {
    void parseJson(request, response, (error?: unknown) => {
      if (error === undefined) resolve();
      else reject(error instanceof Error ? error : new Error('the body could not be read'));
    });
  });
  return request.body as unknown;
}

function hasBody(request: Request): boolean {
  const { headers } = request;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
