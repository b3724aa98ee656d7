import { ApiError, ConnectionError } from '@gateway/client';
import { queryOptions } from '@tanstack/react-query';
import { CSRF_HEADER, gateway, type Caller } from './client.ts';

const SESSION_PATH = '/console/session';
/** The channel between the tabs of a browser. */
const SIGN_OUTS = 'gateway-console-sign-outs';

/** The token of the session. It fails with `authentication_failed` if there is no session. */
export const callerQuery = queryOptions({
  queryKey: ['caller'],
  queryFn: async ({ signal }): Promise<Caller> =>
    (await gateway.get('/v1/whoami', { signal })).body.data,
  staleTime: 60_000,
});

/** Exchanges a token for a session. The token is not kept. @throws ApiError, ConnectionError */
export async function signIn(token: string): Promise<void> {
  await call('POST', JSON.stringify({ token }));
}

/** Ends the session, and tells the other tabs. @throws ApiError, ConnectionError */
export async function signOut(): Promise<void> {
  await call('DELETE');
  const channel = new BroadcastChannel(SIGN_OUTS);
  channel.postMessage('');
  channel.close();
}

/** Calls the listener when another tab has ended the session. @returns the undo */
export function onSignOut(listener: () => void): () => void {
  const channel = new BroadcastChannel(SIGN_OUTS);
  channel.addEventListener('message', listener);
  return () => channel.close();
}

async function call(method: string, body?: string): Promise<void> {
  const headers = { ...CSRF_HEADER, 'Content-Type': 'application/json' };
  let response: Response;
  try {
    response = await fetch(SESSION_PATH, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    });
  } catch (cause) {
    throw new ConnectionError('The gateway cannot be reached.', { cause });
  }
  if (response.ok) return;
  throw new ApiError(response, await response.json().catch(() => undefined));
}

/** Whether the error says that the call had no valid session, or one whose token does not cover the call. */
export function isRefused(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'authentication_failed';
}
