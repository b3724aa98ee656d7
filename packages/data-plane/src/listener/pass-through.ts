import { METHODS } from 'node:http';
import { announcedLength } from '@gateway/http1/message/framing';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { isForwardable } from '@gateway/shared/http/methods';
import type { ServerExchange } from '@gateway/http1/exchange';
import { checkHead, checkHeaderLines, DEFAULT_ALLOW, refuseMethod } from '../request/check-head.ts';
import type { RequestContext } from '../request/context.ts';
import { bodyLate } from '../request/body-errors.ts';
import { forwardedFields } from '../request/inbound-headers.ts';
import { withoutField } from '@gateway/http1/fields/header-fields';
import { cdnLoopOf, forwardedFor, viaOf } from '../request/outbound-headers.ts';
import { respondHead, respondWithError, type RespondOptions } from '../request/reply.ts';
import { controlPlaneFields } from '../request/reply-head.ts';
import type { CompiledUpstream } from '../routing-table/routing-table.ts';
import { pipeResponse } from '../request/pipe-response.ts';
import type { UpstreamClient } from '../upstream/upstream-client.ts';
import { createContext, type ContextOptions } from '../request/create-context.ts';
import type { InFlight } from '../request/in-flight.ts';
import type { ProxyHandler } from '../request/proxy-handler.ts';
import { reasonOf, toGatewayError } from '../request/proxy-handler.ts';
import { finishRequest } from '../request/request-end.ts';
import {
  tokenOfCall,
  type PassThroughCaller,
  type PassThroughSlots,
} from './pass-through-slots.ts';
import type { Logger } from '@gateway/shared/telemetry/logger';

export interface PassThroughOptions {
  /** undefined: this data plane serves only the data path. */
  readonly controlPlaneUrl: string | undefined;
  readonly client: UpstreamClient;
  readonly contextOptions: ContextOptions;
  readonly respond: RespondOptions;
  readonly inFlight: InFlight;
  readonly slots: PassThroughSlots;
  readonly log: Logger;
  readonly timeoutMs: number;
  readonly maxHeaderLines: number;
  /** Called once for each call, when it is over. */
  readonly passed: (ctx: RequestContext) => void;
}

const KEEP_BYTES = 64 * 1024;
/** Those that node:http, which the control plane uses, can read. It ends a connection with any other method. */
const PASSED_METHODS: ReadonlySet<string> = new Set(METHODS.filter(isForwardable));
/** Connections to the control plane for calls without a valid token, so that the others keep theirs. */
const UNAUTHENTICATED_CONNECTIONS = 64;

/**
 * Forwards everything outside the data path to the control plane unchanged, including the credential, so
 * that one base URL serves both. It never retries.
 */
export function createPassThrough(options: PassThroughOptions): ProxyHandler {
  const { controlPlaneUrl } = options;
  const upstreams = controlPlaneUrl === undefined ? undefined : upstreamsAt(controlPlaneUrl);
  return (exchange, path, query) => {
    const ctx = createContext(exchange, path, query, options.contextOptions);
    const { guard } = exchange.connection;
    options.inFlight.enter();
    const passing: { writable: (() => void) | undefined } = { writable: undefined };
    exchange.handler = {
      writable: () => passing.writable?.(),
      closed(end) {
        guard.run(() => {
          if (end !== 'complete') ctx.clientLeft(reasonOf(end));
        }, ctx);
        guard.run(() => {
          finishRequest(ctx, options.inFlight, options.passed);
        }, ctx);
      },
    };
    const refuse = (error: unknown) => {
      if (ctx.clientGone) exchange.abort('peer_left');
      else if (exchange.hasResponded) exchange.abort('internal_error');
      else
        respondWithError(ctx, exchange, toGatewayError(ctx, error, options.log), options.respond);
    };
    // Refuses at once: bytes after a request with ambiguous framing must not be read as a request.
    try {
      checkHeaderLines(ctx, options.maxHeaderLines);
      // Over HTTP/2 it has no path. Over HTTP/1.1 it is refused before.
      if (ctx.method === 'CONNECT') throw refuseMethod(ctx.method);
      checkHead(ctx);
      if (!PASSED_METHODS.has(ctx.method)) throw refuseMethod(ctx.method);
    } catch (error) {
      refuse(error);
      return;
    }
    if (path === '*') {
      respondWithOptions(ctx, exchange, options.respond);
      return;
    }
    if (upstreams === undefined || !isControlPlanePath(path)) {
      refuse(new GatewayError('not_found', 'The gateway has no such path.'));
      return;
    }
    const token = tokenOfCall(ctx);
    const refusal = options.slots.enter(ctx, token);
    if (refusal !== undefined) {
      refuse(refusal);
      return;
    }
    const caller = token === undefined ? 'unauthenticated' : 'authenticated';
    pass(ctx, exchange, upstreams[caller], options)
      .then((writable) => (passing.writable = writable), refuse)
      .catch((error: unknown) => {
        guard.fail(error, ctx);
      });
  };
}

/** Answers `OPTIONS *`, which asks the gateway itself for its methods (RFC 9110 section 9.3.7). */
function respondWithOptions(
  ctx: RequestContext,
  exchange: ServerExchange,
  options: RespondOptions,
): void {
  const fields = respondHead(ctx, 204, options);
  exchange.respond(204, 'No Content', [...fields, 'Allow', DEFAULT_ALLOW], true);
}

/** The pages of the control plane, each with the files below it. */
const PAGES = ['/console', '/docs'];

function isControlPlanePath(path: string): boolean {
  if (path.startsWith('/v1/')) return true;
  return PAGES.some((page) => path === page || path.startsWith(`${page}/`));
}

async function pass(
  ctx: RequestContext,
  exchange: ServerExchange,
  upstream: CompiledUpstream,
  options: PassThroughOptions,
): Promise<() => void> {
  const { timeoutMs } = options;
  const deadlineMs = ctx.startedMs + timeoutMs;
  const body = await ctx.body.take({ maxBytes: Infinity, keepBytes: KEEP_BYTES, deadlineMs });
  const fields = passedFields(ctx);
  const attempt = options.client.begin(
    upstream,
    {
      method: ctx.method,
      path: upstream.basePath + ctx.target.path + ctx.target.query,
      fields,
      body: body.kind === 'kept' ? body.bytes : body.stream,
      contentLength: announcedLength(ctx.framing),
    },
    timeoutMs,
  );
  ctx.whenClientGone(attempt);
  const { response: upstreamResponse, error } = await attempt.outcome;
  if (upstreamResponse === undefined) {
    const failure = body.kind === 'stream' ? body.stream.failure : undefined;
    if (failure instanceof GatewayError) throw failure;
    if (error.name === 'attempt_timeout' && body.kind === 'stream' && body.stream.awaitsCaller) {
      throw bodyLate();
    }
    if (error.name === 'max_pending' || error.name === 'max_connections') {
      throw options.slots.queueFull();
    }
    throw error.name === 'attempt_timeout'
      ? new GatewayError('upstream_timeout', 'The control plane did not respond in time.')
      : new GatewayError('upstream_unavailable', 'The control plane cannot be reached.');
  }
  const { status, statusText } = upstreamResponse;
  ctx.status = status;
  try {
    exchange.respond(status, statusText, controlPlaneFields(upstreamResponse.fields), false);
  } catch (error) {
    // Otherwise the connection to the control plane would wait for a reader forever.
    upstreamResponse.cancel();
    throw error;
  }
  ctx.whenClientGone(upstreamResponse);
  return pipeResponse(upstreamResponse, exchange, {
    sent: () => undefined,
    blocked: () => undefined,
    ended: () => undefined,
  });
}

function passedFields(ctx: RequestContext): string[] {
  const { inbound } = ctx;
  const fields = withoutField(forwardedFields(inbound), 'via');
  fields.push(
    'x-forwarded-for',
    forwardedFor(ctx),
    'x-forwarded-proto',
    ctx.protocol,
    'traceparent',
    ctx.trace.traceparent,
  );
  if (ctx.trace.tracestate !== undefined) fields.push('tracestate', ctx.trace.tracestate);
  fields.push('via', viaOf(ctx), 'cdn-loop', cdnLoopOf(ctx));
  const host = ctx.authority ?? inbound.host;
  if (host !== undefined) fields.push('x-forwarded-host', host);
  if (inbound.authorization !== undefined) fields.push('authorization', inbound.authorization);
  return fields;
}

/** The control plane for each kind of caller; each has its own connections. */
function upstreamsAt(url: string): Readonly<Record<PassThroughCaller, CompiledUpstream>> {
  const limits = { maxInFlight: undefined, maxPending: undefined, adaptive: false };
  return {
    authenticated: fixedUpstream(url, 'control-plane'),
    unauthenticated: {
      ...fixedUpstream(url, 'control-plane unauthenticated'),
      limits: { ...limits, maxConnections: UNAUTHENTICATED_CONNECTIONS },
    },
  };
}

function fixedUpstream(text: string, key: string): CompiledUpstream {
  const url = new URL(text);
  return {
    key,
    id: 'control-plane',
    serviceId: 'control-plane',
    url: text,
    origin: url.origin,
    host: url.host,
    basePath: url.pathname.replace(/\/$/, ''),
    region: null,
    weight: 1,
  };
}
