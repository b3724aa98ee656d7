import type { Clock } from '@gateway/shared/clock';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { HEADER } from '@gateway/shared/http/headers';
import { isId, type createIdFactory } from '@gateway/shared/ids';
import { requireRoute, requireScopes } from '../access/access.ts';
import { tokenHeaderOf } from '../explain/explain-input.ts';
import type { RolloutWaits } from '../data-planes/rollout-waits.ts';
import type { Route } from '../routes/route.ts';
import { findRoute, routeNotFound } from '../routes/store/routes.ts';
import type { Database } from '../store/database.ts';
import type { CallDataPlane, Sent } from './call-data-plane.ts';
import { CallTokens, type CallToken, type CallTokenOwner } from './call-tokens.ts';
import { isHostOf } from './route-hosts.ts';
import { targetOf, type SendInput } from './send-input.ts';
import type { SendMetrics } from './send-metrics.ts';

/**
 * How long a call of the console may take in all. A data plane that passes the console through gives a call 30 s, and the browser
 * should learn from this process what happened.
 */
export const SEND_TIMEOUT_MS = 28_000;

export interface SendOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly newId: ReturnType<typeof createIdFactory>;
  readonly waits: RolloutWaits;
  readonly metrics: SendMetrics;
  readonly callDataPlane: CallDataPlane;
}

/** What a page sends, with the session that it has. */
export interface SendCall extends CallTokenOwner {
  readonly input: SendInput;
  /** The token that was given for this call. */
  readonly givenToken: string | undefined;
  readonly clientAddress: string;
  /** Until when the call must have ended, monotonic ms. */
  readonly deadlineMs: number;
  /** Finds the session again. @throws GatewayError authentication_failed */
  readonly confirm: () => Promise<unknown>;
}

/** What came of a call, and the token of ten minutes if it had one. */
export interface SendOutcome {
  readonly sent: Sent;
  readonly token: CallToken | undefined;
}

export type Send = (call: SendCall) => Promise<SendOutcome>;

/** Sends requests through a data plane, as far as the token of the session reaches. */
export function createSend(options: SendOptions): Send {
  const { db, clock, metrics, callDataPlane } = options;
  const tokens = new CallTokens({ ...options, minted: () => metrics.minted.inc() });

  async function requestOf(call: SendCall) {
    const { caller, input } = call;
    requireScopes(caller, ['proxy']);
    const route = isId('rte', input.route_id) ? await findRoute(db, input.route_id) : undefined;
    if (route === undefined) throw routeNotFound();
    requireRoute(caller, route.environment, route.name);
    requireHost(route, input);
    const token = input.token === 'minted' ? await tokens.take(call, route) : undefined;
    const secret = token?.secret ?? (input.token === 'given' ? call.givenToken : undefined);
    const request = {
      method: input.method,
      target: targetOf(route.name, input),
      headers: [...input.headers, ...ownHeaders(route, call, secret)],
      body: input.body,
    };
    return { request, token };
  }

  return async (call) => {
    let result = 'refused';
    try {
      const { request, token } = await requestOf(call);
      // The token may have needed its time.
      await call.confirm();
      const timeoutMs = Math.max(0, call.deadlineMs - clock.monotonicMs());
      const sent = await callDataPlane(request, { timeoutMs, signal: call.signal });
      result = sent.kind === 'response' ? 'answered' : sent.kind;
      // What arrives after the end of a session is not for whoever had it.
      await call.confirm();
      return { sent, token };
    } finally {
      metrics.sends.inc({ result });
    }
  };
}

/** What the control plane adds, which nobody can give instead. */
function ownHeaders(
  route: Route,
  { input, clientAddress }: SendCall,
  secret: string | undefined,
): [name: string, value: string][] {
  const headers: [string, string][] = [
    // Data planes refuse the request if its token or its host belongs to another environment.
    [HEADER.environment, route.environment],
    // Counts only if the data planes trust this address.
    ['x-forwarded-for', clientAddress],
  ];
  if (input.host !== null) headers.push(['host', input.host]);
  if (secret !== undefined) {
    const name = tokenHeaderOf(route);
    headers.push([name, name === 'authorization' ? `Bearer ${secret}` : secret]);
  }
  return headers;
}

/** @throws GatewayError invalid_request */
function requireHost({ match }: Route, { host }: SendInput): void {
  if (host === null || isHostOf(match, host)) return;
  throw invalidHost();
}

function invalidHost(): GatewayError {
  const message = 'must be one of the hosts that the route matches, or null';
  return new GatewayError('invalid_request', `The request is not valid: host: ${message}.`, {
    details: [{ path: 'host', message }],
  });
}
