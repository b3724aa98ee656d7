import { ApiError, createClient, type components, type operations } from '@gateway/client';
import { createServerClock } from './server-clock.ts';
import { askWhileAway } from './ask-while-away.ts';
import { takeFirstCall } from './first-call.ts';
import { SLOW_READ_MS, watchReachability } from './reachability.ts';

/** Only a script of this origin can set it; the control plane demands it of changes. */
export const CSRF_HEADER = { 'X-Console-Request': '1' };

/** Periods end at its time, because the API refuses those that begin in the future. */
export const serverClock = createServerClock(() => Date.now());

/** Whether the control plane answers the calls below. */
export const reachability = watchReachability(async (request) => {
  const response = await (takeFirstCall(request) ?? fetch(request));
  serverClock.learn(response.headers.get('date'));
  return response;
});

const BASE_URL = `${location.origin}/console/api`;

/** Asks the control plane whether it answers. A refusal is an answer too. */
export async function isControlPlaneAway(): Promise<boolean> {
  const signal = AbortSignal.timeout(SLOW_READ_MS);
  const request = new Request(`${BASE_URL}/v1/whoami`, { headers: CSRF_HEADER, signal });
  await reachability.fetch(request).catch(() => undefined);
  return reachability.isAway();
}

askWhileAway(reachability, isControlPlaneAway);

/** Calls of the management API. The cookie of the session stands in for a token, which the browser does not have. */
export const gateway = createClient({
  baseUrl: BASE_URL,
  headers: CSRF_HEADER,
  fetch: reachability.fetch,
});

type Schemas = components['schemas'];

export type Caller = Schemas['Caller'];
export type Service = Schemas['Service'];
export type ServiceHealth = Schemas['ServiceHealth'];
export type DataPlane = Schemas['DataPlane'];
export type Route = Schemas['Route'];
export type Statistics = Schemas['Statistics'];
export type RequestRecord = Schemas['RequestRecord'];
export type RequestAttempt = RequestRecord['attempts'][number];
/** A page of request records. */
export type RequestList =
  operations['listRequests']['responses'][200]['content']['application/json'];
export type RequestListQuery = NonNullable<operations['listRequests']['parameters']['query']>;
export type Token = Schemas['Token'];
export type Explanation = Schemas['Explanation'];
export type RouteTraffic = Schemas['RouteStatistics']['routes'][number];
export type CallerStatistics = Schemas['CallerStatistics'];
export type AuditEvent = Schemas['AuditEvent'];
export type ConfigVersion = Schemas['ConfigVersion'];
export type ConfigDifference = Schemas['ConfigDifference'];
export type Environment = Schemas['Environment'];
export type Links = Schemas['Links'];

/** Whether a change was refused because the resource is not as it was read. */
export function isOutdated(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'precondition_failed';
}

/** The header that lets a change fail if the resource is not as it was read. */
export function ifMatch(etag: string | undefined): { readonly 'If-Match'?: string } {
  return etag === undefined ? {} : { 'If-Match': etag };
}
