import type { EndReason } from '@gateway/http/connection-guard';
import type { CallerConnection } from '@gateway/http/exchange';
import type { BodyFraming } from '@gateway/http/message/framing';
import type { RequestHead } from '@gateway/http/message/request-head';
import type { Clock } from '@gateway/shared/clock';
import type { FixedWindow } from '@gateway/shared/fixed-window';
import { authorityOf } from '@gateway/shared/http/headers';
import type { IdPrefix } from '@gateway/shared/ids';
import {
  clientAddress,
  normaliseAddress,
  type AddressRanges,
} from '@gateway/shared/net/client-address';
import type { ErrorCode } from '@gateway/shared/errors/error-table';
import type { RecordedAttempt } from '@gateway/shared/records/attempt';
import type { RecordedClaim, RecordedPolicy, RecordKind } from '@gateway/shared/records/record';
import type {
  CompiledRoute,
  CompiledUpstream,
  CompiledVersion,
  EnvironmentTable,
  RoutingTable,
  Token,
  UnusableRoute,
} from '../routing-table/routing-table.ts';
import type { KeyResult } from './key-results.ts';
import type { InboundHeaders } from './inbound-headers.ts';
import type { MessageSizes } from './message-sizes.ts';
import type { ProxyTarget, RewrittenTarget } from './proxy-path.ts';
import type { Reached } from './reach-route.ts';
import type { RequestAffinity } from './request-affinity.ts';
import type { ResponseSink, UpstreamResponse } from './upstream-response.ts';
import { EMPTY_BODY, type TakenBody } from './request-body.ts';
import { TimeAccount } from './time-account.ts';
import type { TraceContext, Tracer } from '../tracing/trace-context.ts';
import { CODE_OF_END } from './end-codes.ts';

/** The caller that a verified JWT names. The token cannot be rebuilt from it. */
export interface JwtCaller {
  /**
   * Identifies the caller for quotas and idempotency keys: a hash of issuer and subject. For a token
   * without a subject it is a hash of the signed part, so that callers with different claims never share
   * one.
   */
  readonly principal: string;
  /** Claim `sub`. */
  readonly subject: string | undefined;
  /** Value of `X-Gateway-Subject`: the subject; characters that are not visible ASCII are percent-encoded. */
  readonly subjectField: string | undefined;
  /** The claims that the record keeps: `iss`, `aud` and those that the route requires. */
  readonly claims: Readonly<Record<string, RecordedClaim>>;
  /** Those of them that are not exactly as in the token: they were too long, held a secret, or lists of other values. */
  readonly inexactClaims: readonly string[];
}

/** The header that carried the token; `both`: the same token was in either. */
export type TokenField = 'authorization' | 'x-api-key' | 'both';

/** Work on behalf of a caller. */
export interface Cancellable {
  cancel(): void;
}

/** Receives a response and passes it on, until its caller leaves: then it is cancelled, and receives the rest for itself. */
export type Capture = ResponseSink & Cancellable;

/** What is known of a request when it arrives. */
export interface Arrived {
  readonly head: Pick<RequestHead, 'method' | 'url' | 'httpVersion' | 'framing'>;
  readonly connection: Pick<CallerConnection, 'address' | 'isSecure' | 'coversAuthority'>;
}

/** What the contexts of all requests have in common. */
export interface ContextOptions {
  readonly clock: Clock;
  readonly makeId: (prefix: IdPrefix, atMs: number) => string;
  readonly trace: Tracer;
  readonly trustedProxies: AddressRanges;
  readonly table: () => RoutingTable;
}

/**
 * The state of one request while it runs through the stages. Only that request uses it; stages add what
 * they find out. A stage that acquires something releases it in `onFinish`, which always runs.
 */
export class RequestContext {
  readonly id: string;
  /** Milliseconds since the Unix epoch; the id contains the same time. */
  readonly receivedAtMs: number;
  /** Milliseconds of the monotonic clock. */
  readonly startedMs: number;
  readonly times: TimeAccount;
  readonly method: string;
  readonly httpVersion: string;
  /** Host and port of a request target in absolute form; replaces Host (RFC 9112 section 3.2.2). */
  readonly authority: string | undefined;
  readonly target: ProxyTarget;
  readonly inbound: InboundHeaders;
  readonly framing: BodyFraming;
  /** The remote address of the connection. */
  readonly peerAddress: string;
  /** The caller's address: the remote address, unless a trusted proxy names another. */
  readonly clientIp: string;
  readonly fromTrustedProxy: boolean;
  readonly protocol: 'http' | 'https';
  /** Whether the certificate of the connection does not cover the host of the request, and another may. */
  readonly isMisdirected: boolean;
  readonly trace: TraceContext;
  readonly table: RoutingTable;

  body = EMPTY_BODY;
  /** Whether the sub-path has an encoded tab or line break, which only some routes accept. */
  hasEncodedControl = false;
  environmentName: string | undefined = undefined;
  environment: EnvironmentTable | undefined = undefined;
  route: CompiledRoute | undefined = undefined;
  /** The route of the request, if this data plane cannot use it; `route` is undefined then. */
  unusableRoute: UnusableRoute | undefined = undefined;
  /** What the upstream gets as target and host; undefined: what the caller sent, and the host of the upstream. */
  rewritten: RewrittenTarget | undefined = undefined;
  /** The version that this request goes to. */
  version: CompiledVersion | undefined = undefined;
  /** Where the request belongs; undefined: the route has no `affinity`. */
  affinity: RequestAffinity | undefined = undefined;
  token: Token | undefined = undefined;
  tokenField: TokenField | undefined = undefined;
  /** The caller of a JWT route, once the JWT is verified. */
  jwt: JwtCaller | undefined = undefined;
  /** The authenticated caller: the id of its token, or the principal of its JWT. */
  principal: string | undefined = undefined;
  /** What the upstream gets as `Max-Forwards`, if the caller sent it with a method for which it has a meaning. */
  maxForwards: number | undefined = undefined;
  /** The quota or failure allowance that the rate-limit headers show. */
  quota: FixedWindow | undefined = undefined;
  /** How long the request may take until the head of its response; set once the route is known. */
  timeoutMs = Infinity;
  /** When the caller of a gRPC call ends it, as `deadlineMs`; Infinity: it has not said so. */
  callerDeadlineMs = Infinity;

  /** The body, if a stage before forwarding had to read it. */
  takenBody: TakenBody | undefined = undefined;
  /** The effect of the request's idempotency key, if it has one. */
  idempotency: KeyResult | undefined = undefined;
  /** Stores the response while it passes to a sink. Set if the request holds a key; it then outlives its caller. */
  capture: ((response: UpstreamResponse, sink: ResponseSink) => Capture) | undefined = undefined;
  /** Whether the request certainly still holds its key; undefined if it has none. */
  holdsKey: (() => boolean) | undefined = undefined;
  /** Whether any part of the request may have reached an upstream. */
  mayHaveSent = false;
  /** Whether an attempt was sent, or may have been, and got no response: nobody knows whether it had an effect. */
  sentWithoutAnswer = false;

  /** What its record is of. */
  kind: RecordKind = 'request';
  /** The fields of the route that took part, in order; undefined: none of those that records name. */
  policies: RecordedPolicy[] | undefined = undefined;

  readonly attempts: RecordedAttempt[] = [];
  upstream: CompiledUpstream | undefined = undefined;
  /** The `X-Request-Id` of the upstream's response. */
  upstreamRequestId: string | undefined = undefined;

  status: number | undefined = undefined;
  /** The gRPC status with which a gRPC call ended, 0 to 16; undefined: no gRPC call, or no status came. */
  grpcStatus: number | undefined = undefined;
  /** The messages of the response to a gRPC call, as they arrive; undefined: no gRPC call, or no body. */
  grpcMessages: MessageSizes | undefined = undefined;
  errorCode: ErrorCode | undefined = undefined;
  /** The stage that threw, except forwarding. */
  failedStage: string | undefined = undefined;
  /** Time from the arrival to the head of the response, without the wait for the caller's body. */
  firstByteMs = 0;
  responseBytes = 0;
  /** Whether the upstream closed the connection or timed out within its response. */
  upstreamBroke = false;
  /**
   * Whether the caller asks to leave HTTP, by an upgrade that is handled or by CONNECT. Bytes that it sends early are no
   * request, so the connection ends after any response but 101.
   */
  leavesHttp = false;
  /** Whether nobody waits for the response any more: the caller left, or the gateway ended the response. */
  clientGone = false;
  /** Why the gateway ended the response before it was complete. undefined: it did not. */
  endReason: EndReason | undefined = undefined;
  /** Why the gateway ended the response: what the caller sent, or did not send, within it. undefined: it did not. */
  refusedWithin: ErrorCode | undefined = undefined;

  #forCaller: Cancellable | undefined = undefined;
  /** With room for as many as most requests have. An empty array would get room for 17 with the first one. */
  readonly #releases: ((() => void) | undefined)[] = [undefined, undefined, undefined, undefined];
  #releaseCount = 0;

  /** Refuses nothing: the first stage refuses bad requests, so that a refused request has a record too. */
  constructor(
    { head, connection }: Arrived,
    { inbound, target }: Pick<Reached, 'inbound' | 'target'>,
    options: ContextOptions,
  ) {
    const { clock, trustedProxies } = options;
    const receivedAtMs = clock.nowMs();
    const peerAddress = normaliseAddress(connection.address);
    const startedMs = clock.monotonicMs();
    this.id = options.makeId('req', receivedAtMs);
    this.receivedAtMs = receivedAtMs;
    this.startedMs = startedMs;
    this.times = new TimeAccount(startedMs);
    this.method = head.method;
    this.httpVersion = head.httpVersion;
    this.authority = authorityOf(head.url);
    this.target = target;
    this.inbound = inbound;
    this.framing = head.framing;
    this.peerAddress = peerAddress;
    this.clientIp = clientAddress(peerAddress, inbound.forwardedFor, trustedProxies);
    this.fromTrustedProxy = trustedProxies.texts.length > 0 && trustedProxies.has(peerAddress);
    this.protocol = connection.isSecure ? 'https' : 'http';
    this.isMisdirected =
      connection.coversAuthority?.(this.authority ?? inbound.host ?? '') === false;
    this.trace = options.trace(inbound.traceparent, inbound.tracestate);
    this.table = options.table();
  }

  /**
   * When the time of the request is over, in milliseconds of the monotonic clock. Its clock stands while the gateway waits
   * for the body of the caller, so the deadline is later by as much as it has waited, but not after that of the caller.
   */
  get deadlineMs(): number {
    const ownMs = this.startedMs + this.timeoutMs + this.times.receivingUs / 1000;
    return Math.min(ownMs, this.callerDeadlineMs);
  }

  /** Registers the release of something just acquired. Releases run once, last in, first out. */
  onFinish(undo: () => void): void {
    this.#releases[this.#releaseCount] = undo;
    this.#releaseCount += 1;
  }

  /**
   * Runs all releases, then releases the body; called when the request is over, however it ended. If one throws, the
   * others still run.
   */
  finish(): void {
    try {
      this.#release();
    } finally {
      this.body.release();
    }
  }

  #release(): void {
    try {
      while (this.#releaseCount > 0) {
        this.#releaseCount -= 1;
        this.#releases[this.#releaseCount]?.();
      }
    } finally {
      if (this.#releaseCount > 0) this.#release();
    }
  }

  /** Notes for the record that a field of the route took part. */
  applied(policy: RecordedPolicy): void {
    this.policies ??= [];
    if (!this.policies.includes(policy)) this.policies.push(policy);
  }

  /** Sets what to cancel if the caller leaves. It replaces what was set before; undefined clears it. */
  whenClientGone(work: Cancellable | undefined): void {
    if (work !== undefined && this.clientGone) work.cancel();
    else this.#forCaller = work;
  }

  /**
   * Called when the response ends before it is complete.
   *
   * @param reason why the gateway ended it; undefined if the caller left, or the upstream broke off
   */
  clientLeft(reason?: EndReason): void {
    this.clientGone = true;
    this.endReason ??= reason;
    if (this.endReason !== undefined) this.errorCode ??= CODE_OF_END[this.endReason];
    this.#forCaller?.cancel();
    this.#forCaller = undefined;
  }
}
