import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { Logger } from '@gateway/shared/telemetry/logger';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import { browserStart } from './console/browser-start.ts';
import { consoleCalls } from './console/console-calls.ts';
import { consoleHandlers } from './console/console-handlers.ts';
import type { ConsoleSend } from './console/send-handlers.ts';
import type { Endpoint } from './endpoint.ts';
import { OPENAPI_PATH, openApiDocument } from './openapi/document.ts';
import type { IdempotencyStore } from './idempotency/idempotency.ts';
import { docsHandlers } from './docs/docs-handlers.ts';
import { createResponder, exchangeOf, type Responder } from './reply.ts';
import { runEndpoint } from './run-endpoint.ts';
import { securityHeaders } from './security-headers.ts';
import { startExchange, type ExchangeOptions } from './start-exchange.ts';
import { toGatewayError } from './to-gateway-error.ts';
import type { RolloutWaits } from '../data-planes/rollout-waits.ts';
import type { Database } from '../store/database.ts';

export interface AppOptions extends ExchangeOptions {
  readonly endpoints: readonly Endpoint[];
  /** Where writes wait for the data planes. */
  readonly waits: RolloutWaits;
  /** The idempotency keys of POSTs. */
  readonly idempotencyKeys: IdempotencyStore;
  /** Where the sessions of the console are stored. */
  readonly db: Database;
  /** The folder with the built console. */
  readonly consoleFolder: string;
  /** The folder with the built documentation. */
  readonly docsFolder: string;
  /** Sends requests of the console. */
  readonly sending: ConsoleSend;
}

type Handlers = Map<string, RequestHandler>;

/** The order of methods in `Allow`. */
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** The management API and the console: a first middleware for all calls, a handler for each endpoint, one error handler. */
export function createApp(options: AppOptions): Express {
  const { endpoints, authenticator, clock, log, waits, idempotencyKeys } = options;
  const responder = createResponder(clock);
  const app = express();
  app.disable('x-powered-by').disable('etag').enable('case sensitive routing');
  // A resource has exactly one path: `/v1/services/` and `/V1/services` do not exist.
  app.enable('strict routing');
  app.set('query parser', 'simple');
  app.use(securityHeaders());
  app.use(startExchange(options));
  app.use(optionsHandler(endpoints, responder));
  app.use(consoleCalls(options.trustedProxies));

  const paths = new Map<string, Handlers>([
    [OPENAPI_PATH, new Map([['GET', documentHandler(endpoints, responder)]])],
    ...docsHandlers(responder, options.docsFolder).map(([path, handler]): [string, Handlers] => [
      path,
      new Map([['GET', handler]]),
    ]),
    ...consoleHandlers(responder, options).map(([path, handlers]): [string, Handlers] => [
      path,
      new Map(handlers),
    ]),
  ]);
  for (const endpoint of endpoints) {
    const handlers: Handlers = paths.get(endpoint.path) ?? new Map<string, RequestHandler>();
    handlers.set(
      endpoint.method,
      runEndpoint(endpoint, authenticator, responder, waits, idempotencyKeys),
    );
    paths.set(endpoint.path, handlers);
  }
  for (const [path, handlers] of paths) {
    app.all(path.replace(/\{(\w+)\}/g, ':$1'), dispatch(path, handlers));
  }

  app.get('/', browserStart(responder));
  app.use(() => {
    throw new GatewayError('not_found', 'The path does not exist.');
  });
  app.use(errorHandler(responder, log));
  return app;
}

/** Calls the handler of the method. An unknown method is refused before authentication. */
function dispatch(path: string, handlers: Handlers): RequestHandler {
  const inOrder = [...handlers.keys()].toSorted((a, b) => METHODS.indexOf(a) - METHODS.indexOf(b));
  const allowed = inOrder.flatMap((one) => (one === 'GET' ? ['GET', 'HEAD'] : [one]));
  return (request, response, next) => {
    exchangeOf(response).pattern = path;
    const handler = handlers.get(request.method === 'HEAD' ? 'GET' : request.method);
    if (handler !== undefined) return handler(request, response, next);
    throw new GatewayError('method_not_allowed', `The path accepts only ${allowed.join(', ')}.`, {
      headers: { allow: allowed.join(', ') },
    });
  };
}

/** Answers `OPTIONS *` with the methods of the API (RFC 9110 section 9.3.7). The head check lets no other method ask it. */
function optionsHandler(endpoints: readonly Endpoint[], responder: Responder): RequestHandler {
  const methods = new Set(['GET', 'HEAD', 'OPTIONS', ...endpoints.map(({ method }) => method)]);
  const allow = [...methods].join(', ');
  return (request, response, next) => {
    if (request.url !== '*') {
      next();
      return;
    }
    exchangeOf(response).pattern = '*';
    responder.reply(response, { kind: 'none' }, { allow });
  };
}

function documentHandler(endpoints: readonly Endpoint[], responder: Responder): RequestHandler {
  // Made at the first request: it takes a third of the time that a control plane needs to start.
  let content: string | undefined;
  return (_request, response) => {
    content ??= JSON.stringify(openApiDocument(endpoints));
    responder.reply(response, { kind: 'document', content });
  };
}

function errorHandler(responder: Responder, log: Logger): ErrorRequestHandler {
  // Express counts the parameters.
  return (thrown: unknown, _request, response, _next) => {
    const error = toGatewayError(thrown);
    const { requestId: request_id, traceId: trace_id } = exchangeOf(response);
    if (error.code === 'internal_error')
      log.error({ err: thrown, request_id, trace_id }, 'management call failed');
    else if (error.status >= 500)
      log.warn({ reason: String(thrown), request_id, trace_id }, 'management call failed');
    // The head is already sent. Closing the connection tells the caller that the body is incomplete.
    if (response.headersSent) response.destroy();
    else responder.error(response, error);
  };
}
