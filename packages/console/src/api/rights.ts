import { useQuery } from '@tanstack/react-query';
import type { Caller } from './client.ts';
import { rightOf, type Needed, type Right } from './needed-right.ts';
import { callerQuery } from './session.ts';

/** The token of the session. Pages below the shell always have it. */
export function useCaller(): Caller | undefined {
  return useQuery(callerQuery).data;
}

/** Whether the session may do something; if not, why. */
export function useRight(needed: Needed): Right {
  return rightOf(useCaller(), needed);
}

/** Whether the scopes of the session include this one. */
export function useScope(scope: string): Right {
  return useRight({ scope });
}
