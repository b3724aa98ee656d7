import type { FixedWindow } from '@gateway/shared/fixed-window';
import type { ErrorCode } from '@gateway/shared/errors/error-table';
import type { RecordedAttempt, RecordedClaim } from '@gateway/shared/records/record';
import type {
  CompiledRoute,
  CompiledUpstream,
  CompiledVersion,
  EnvironmentTable,
  RoutingTable,
  Token,
} from '../routing-table/routing-table.ts';
import type { InboundHeaders } from './inbound-headers.ts';
import type { ProxyTarget } from './proxy-path.ts';
import type { UpstreamResponse } from './upstream-response.ts';
import type { RequestBody, TakenBody } from './request-body.ts';
import type { TraceContext } from './trace-context.ts';

/** Who a verified JWT says the caller is. Holds nothing by which the token could be made again. */
export interface JwtCaller {
  /**
   * Names the caller to quotas and idempotency keys: a hash of issuer and subject, or of what the
   * signature covers where the token names no subject, so that callers with other claims never share one.
   */
  readonly principal: string;
  /** Claim `sub`. */
  readonly subject: string | undefined;
  /** Value of `X-Gateway-Subject`: the subject, with what is not visible ASCII percent-encoded. */
  readonly subjectField: string | undefined;
  /** Of the claims, `iss`, `aud` and those that the route requires: what the record keeps. */
  readonly claims: Readonly<Record<string, RecordedClaim>>;
}

/** What an idempotency key did to its request. `forwarded`: the outcome of an earlier run is unknown, and the route allows another. */
export type KeyResult =
  | 'first'
  | 'forwarded'
  | 'replayed'
  | 'conflict'
  | 'in_progress'
  | 'outcome_unknown'
  | 'not_replayable'
  | 'unavailable';

/** What is known of a request when it arrives. */
export interface Arrival {
  readonly id: string;
  /** ms since the Unix epoch, the same as in the id. */
  readonly receivedAtMs: number;
  /** By the monotonic clock. */
  readonly startedMs: number;
  readonly method: string;
  readonly httpVersion: string;
  /** The host, and the port, that a target in absolute form names; it counts in place of Host. */
  readonly authority: string | undefined;
  readonly target: ProxyTarget;
  readonly inbound: InboundHeaders;
  readonly body: RequestBody;
  /** The address at the other end of the connection. */
  readonly peerAddress: string;
  /** The caller's address: that of the connection, unless a trusted proxy names another. */
  readonly clientIp: string;
  readonly fromTrustedProxy: boolean;
  readonly protocol: 'http' | 'https';
  readonly trace: TraceContext;
  readonly table: RoutingTable;
}

/**
 * One request on its way through the stages. Owned by that request alone; stages add what they find
 * out. What a stage acquires it gives back through `onFinish`, which runs on every way out.
 */
export class RequestContext {
  readonly id: string;
  readonly receivedAtMs: number;
  readonly startedMs: number;
  readonly method: string;
  readonly httpVersion: string;
  readonly authority: string | undefined;
  readonly target: ProxyTarget;
  readonly inbound: InboundHeaders;
  readonly body: RequestBody;
  readonly peerAddress: string;
  readonly clientIp: string;
  readonly fromTrustedProxy: boolean;
  readonly protocol: 'http' | 'https';
  readonly trace: TraceContext;
  readonly table: RoutingTable;

  environmentName: string | undefined = undefined;
  environment: EnvironmentTable | undefined = undefined;
  route: CompiledRoute | undefined = undefined;
  /** The one that this request goes to; its service is the request's. */
  version: CompiledVersion | undefined = undefined;
  token: Token | undefined = undefined;
  /** The field that the token came in. */
  tokenField: 'authorization' | 'x-api-key' | undefined = undefined;
  /** What the caller's JWT says, once it is verified. */
  jwt: JwtCaller | undefined = undefined;
  /** Who calls, once that is proven: a token's id, or what another kind of proof names. */
  principal: string | undefined = undefined;
  /** The quota, or the allowance, that the rate-limit headers speak of. */
  quota: FixedWindow | undefined = undefined;
  /** By the monotonic clock; set once the route is known. */
  deadlineMs = Infinity;

  /** The body, where a stage before forwarding had to read it. */
  takenBody: TakenBody | undefined = undefined;
  /** What the request's idempotency key did to it, where it has one. */
  idempotency: KeyResult | undefined = undefined;
  /** Keeps the response as it passes. The request holds a key then, and does not end with its caller. */
  capture: ((response: UpstreamResponse) => UpstreamResponse) | undefined = undefined;
  /** Whether the request's key is its own for certain; undefined where it holds none. */
  keyHeld: (() => boolean) | undefined = undefined;
  /** Whether any of the request may have reached an upstream. */
  mayHaveSent = false;

  readonly attempts: RecordedAttempt[] = [];
  upstream: CompiledUpstream | undefined = undefined;
  upstreamMs = 0;
  /** Time spent waiting for the caller's own body. */
  clientWaitMs = 0;
  /** Time spent waiting for another request with the same idempotency key. */
  duplicateWaitMs = 0;

  status: number | undefined = undefined;
  errorCode: ErrorCode | undefined = undefined;
  gatewayMs = 0;
  responseBytes = 0;
  /** Whether the upstream broke off, or went silent, within its response. */
  upstreamBroke = false;
  clientGone = false;

  #onClientGone: (() => void) | undefined = undefined;
  #onFinish: (() => void)[] = [];

  constructor(arrival: Arrival) {
    this.id = arrival.id;
    this.receivedAtMs = arrival.receivedAtMs;
    this.startedMs = arrival.startedMs;
    this.method = arrival.method;
    this.httpVersion = arrival.httpVersion;
    this.authority = arrival.authority;
    this.target = arrival.target;
    this.inbound = arrival.inbound;
    this.body = arrival.body;
    this.peerAddress = arrival.peerAddress;
    this.clientIp = arrival.clientIp;
    this.fromTrustedProxy = arrival.fromTrustedProxy;
    this.protocol = arrival.protocol;
    this.trace = arrival.trace;
    this.table = arrival.table;
  }

  /** Registers how to undo what was just acquired. Undone last in, first out, once. */
  onFinish(undo: () => void): void {
    this.#onFinish.push(undo);
  }

  /** The request is over, whichever way. */
  finish(): void {
    const undo = this.#onFinish;
    this.#onFinish = [];
    for (let index = undo.length - 1; index >= 0; index -= 1) undo[index]?.();
  }

  /** What to do should the caller leave now; replaces what was set before, undefined clears it. */
  whenClientGone(cancel: (() => void) | undefined): void {
    if (cancel !== undefined && this.clientGone) cancel();
    else this.#onClientGone = cancel;
  }

  /** The caller left before its response was complete. */
  clientLeft(): void {
    this.clientGone = true;
    this.#onClientGone?.();
    this.#onClientGone = undefined;
  }
}
