import { useQuery } from '@tanstack/react-query';
import { callerQuery } from './session.ts';
import type { Caller } from './client.ts';

/** Whether the session may do something; if not, why. */
export type Right =
  | { readonly allowed: true; readonly reason?: undefined }
  | { readonly allowed: false; readonly reason: string };

const ALLOWED: Right = { allowed: true };

/** The token of the session. Pages below the shell always have it. */
export function useCaller(): Caller | undefined {
  return useQuery(callerQuery).data;
}

/** Whether the scopes of the session include this one. */
export function useScope(scope: string): Right {
  const scopes = useCaller()?.effective_scopes ?? [];
  return scopes.includes(scope) || scopes.includes('*')
    ? ALLOWED
    : { allowed: false, reason: `Your token lacks the scope ${scope}.` };
}
