import { PassedFields } from '@gateway/http/message/message-writer';
import { METHODS } from 'node:http';
import { fieldValue, withoutField } from '@gateway/http/fields/header-fields';
import { announcedLength } from '@gateway/http/message/framing';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { prefersNamed } from '@gateway/shared/http/accept';
import { isForwardable } from '@gateway/shared/http/methods';
import { checkHead, checkHeaderLines, DEFAULT_ALLOW, refuseMethod } from '../request/check-head.ts';
import type { RequestContext } from '../request/context.ts';
import { type Handling, NO_CONTENT, type Stage } from '../request/stage.ts';
import { forwardedFields } from '../request/inbound-headers.ts';
import { cdnLoopOf, forwardedFor, viaOf } from '../request/outbound-headers.ts';
import { controlPlaneFields } from '../request/end-to-end-fields.ts';
import type { TakenBody } from '../request/request-body.ts';
import type { ResponseReceiver } from '../request/upstream-response.ts';
import type { CompiledUpstream } from '../routing-table/routing-table.ts';
import type { AttemptError } from '../upstream/attempt-end.ts';
import type { AttemptHandler, UpstreamClient } from '../upstream/upstream-client.ts';
import {
  tokenOfCall,
  type PassThroughCaller,
  type PassThroughSlots,
} from './pass-through-slots.ts';

export interface PassThroughOptions {
  /** undefined: this data plane serves only the data path. */
  readonly controlPlaneUrl: string | undefined;
  readonly client: UpstreamClient;
  readonly slots: PassThroughSlots;
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
export function createPassThrough(options: PassThroughOptions): Handling {
  const { controlPlaneUrl, slots } = options;
  const upstreams = controlPlaneUrl === undefined ? undefined : upstreamsAt(controlPlaneUrl);
  return {
    stages: [['check', createCheck(options)]],
    forward(ctx, receiver) {
      if (upstreams === undefined || !isOfControlPlane(ctx)) {
        throw new GatewayError(
          'not_found',
          'No route takes this host and path, and the gateway has no such path.',
        );
      }
      const token = tokenOfCall(ctx);
      const refusal = slots.enter(ctx, token);
      if (refusal !== undefined) throw refusal;
      const caller = token === undefined ? 'unauthenticated' : 'authenticated';
      void pass(ctx, receiver, upstreams[caller], options);
    },
    passFields: (_ctx, { fields }) => new PassedFields(controlPlaneFields(fields)),
    addFields(ctx, status) {
      ctx.status = status;
      return [];
    },
    finished: options.passed,
  };
}

/**
 * Refuses at once: bytes after a request with ambiguous framing must not be read as a request. Answers `OPTIONS *`, which
 * asks the gateway itself for its methods (RFC 9110 section 9.3.7).
 */
function createCheck({ maxHeaderLines }: PassThroughOptions): Stage {
  return (ctx) => {
    checkHeaderLines(ctx, maxHeaderLines);
    // Over HTTP/2 it has no path. Over HTTP/1.1 it is refused before.
    if (ctx.method === 'CONNECT') throw refuseMethod(ctx.method);
    checkHead(ctx);
    if (!PASSED_METHODS.has(ctx.method)) throw refuseMethod(ctx.method);
    if (ctx.target.path !== '*') return undefined;
    const fields = ['Allow', DEFAULT_ALLOW];
    return { status: 204, statusText: 'No Content', fields, body: NO_CONTENT };
  };
}

/** The pages of the control plane, each with the files below it. */
const PAGES = ['/console', '/docs'];

function isOfControlPlane(ctx: RequestContext): boolean {
  const { path } = ctx.target;
  if (path.startsWith('/v1/')) return true;
  if (path === '/') return opensPage(ctx);
  return PAGES.some((page) => path === page || path.startsWith(`${page}/`));
}

/** Whether a browser opens the address of the gateway: the control plane leads it to the console. */
function opensPage({ method, inbound }: RequestContext): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  const accept = fieldValue(inbound.raw, 'accept') ?? '';
  return prefersNamed(accept, 'text/html', 'application/json');
}

/** Never rejects. */
async function pass(
  ctx: RequestContext,
  receiver: ResponseReceiver,
  upstream: CompiledUpstream,
  options: PassThroughOptions,
): Promise<void> {
  const { client, timeoutMs } = options;
  const upload = {
    max_upload_ms: timeoutMs,
    min_upload_bytes_per_second: 0,
    body_idle_timeout_ms: null,
  };
  const limits = { maxBytes: Infinity, keepBytes: KEEP_BYTES, upload, request: ctx };
  try {
    const body = await ctx.body.take(limits);
    const request = {
      method: ctx.method,
      path: upstream.basePath + ctx.target.path + ctx.target.query,
      fields: passedFields(ctx),
      body: body.kind === 'kept' ? body.bytes : body.stream,
      contentLength: announcedLength(ctx.framing),
    };
    const handler: AttemptHandler = {
      responded: (response, last) => receiver.responded(response, last),
      failed(error) {
        ctx.mayHaveSent ||= error.sent;
        receiver.failed(errorOf(error, body, options.slots));
      },
    };
    const attempt = client.begin(upstream, request, timeoutMs, handler, undefined, ctx.times);
    ctx.whenClientGone(attempt);
  } catch (error) {
    receiver.failed(error);
  }
}

function errorOf({ name }: AttemptError, body: TakenBody, slots: PassThroughSlots): GatewayError {
  const stream = body.kind === 'stream' ? body.stream : undefined;
  if (stream?.failure instanceof GatewayError) return stream.failure;
  if (name === 'max_pending' || name === 'max_connections') return slots.queueFull();
  return name === 'attempt_timeout'
    ? new GatewayError('upstream_timeout', 'The control plane did not respond in time.')
    : new GatewayError('upstream_unavailable', 'The control plane cannot be reached.');
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
