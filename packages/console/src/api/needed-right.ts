import type { Caller } from './client.ts';

/** Whether the session may do something; if not, why. */
export type Right =
  | { readonly allowed: true; readonly reason?: undefined }
  | { readonly allowed: false; readonly reason: string };

/** What an operation needs of a token. */
export interface Needed {
  readonly scope: string | readonly string[];
  /** The token must cover every route. */
  readonly allRoutes?: boolean | undefined;
  /** The token must cover every environment. */
  readonly allEnvironments?: boolean | undefined;
}

/** Whether a token has what an operation needs. */
export function rightOf(caller: Caller | undefined, needed: Needed): Right {
  const { scope, allRoutes = false, allEnvironments = false } = needed;
  const scopes = caller?.effective_scopes ?? [];
  const missing = [scope].flat().filter((one) => !scopes.includes(one) && !scopes.includes('*'));
  if (missing.length > 0) return refused(`Your token lacks ${scopesText(missing)}.`);
  if (allRoutes && caller?.routes.includes('*') !== true) {
    return refused('Your token covers some routes only. This needs a token for all routes.');
  }
  if (allEnvironments && caller?.environments.includes('*') !== true) {
    return refused(
      'Your token covers some environments only. This needs a token for all environments.',
    );
  }
  return { allowed: true };
}

function refused(reason: string): Right {
  return { allowed: false, reason };
}

function scopesText(missing: readonly string[]): string {
  const [first, ...others] = missing;
  if (others.length === 0) return `the scope ${first}`;
  return `the scopes ${missing.slice(0, -1).join(', ')} and ${missing.at(-1)}`;
}
