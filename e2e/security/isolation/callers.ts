import { grantsScope, SCOPES } from '@gateway/shared/tokens/scopes';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { eventually } from '@gateway/shared/test/eventually';
import { expect } from '@jest/globals';
import type { Gateway } from '../../harness/gateway.ts';
import { CALLERS, type CallerKind } from './expectations.ts';

/** The secret that a caller sends, or null. */
export type Callers = ReadonlyMap<CallerKind, string | null>;

/** The environments of a caller of `production` and of a caller of all environments. */
export const ENVIRONMENTS = { production: ['production'], all: ['*'] };

/** Names for routes that calls create. */
export const FRESH_ROUTES = Array.from({ length: 50 }, (_, index) => `fresh-${index + 1}`);
/** The routes of the caller with exactly the required rights. */
export const JUST_ROUTES = [
  'orders',
  'fresh',
  'socket',
  'keyed',
  'users',
  'rooms',
  ...FRESH_ROUTES,
];

/** Every scope by its name. */
export const EVERY_SCOPE = SCOPES.filter((scope) => scope !== '*');
/** The scopes of a caller that changes nothing. */
export const READ_SCOPES = EVERY_SCOPE.filter((scope) => scope.endsWith(':read'));

/**
 * Creates the token of each caller; the last one has only the scope `proxy`. Resolves when the
 * token that expires has expired.
 */
export async function createCallers(
  gateway: Gateway,
  environments: readonly string[],
): Promise<Callers> {
  const { admin } = gateway;
  const full = { environments, routes: ['*'], scopes: EVERY_SCOPE };
  const secretOf = async (fields: Readonly<Record<string, unknown>>) =>
    (await gateway.tokenClient(fields)).token;
  const expires_at = new Date(Date.now() + 1000).toISOString();
  const expired = await secretOf({ ...full, expires_at });
  const revoked = await gateway.tokenClient(full);
  await admin.delete(`/v1/tokens/${revoked.tokenId}`);
  const rotated = await gateway.tokenClient(full);
  await admin.post(`/v1/tokens/${rotated.tokenId}/rotate`, { grace_seconds: 0 });
  const graced = await gateway.tokenClient(full);
  await admin.post(`/v1/tokens/${graced.tokenId}/rotate`, { grace_seconds: 3600 });
  const withoutScope = EVERY_SCOPE.map(async (scope) => {
    const caller = CALLERS.find((one) => one === `without ${scope}`);
    if (caller === undefined) throw new Error(`no column for callers without ${scope}`);
    // A scope that contains it grants it too.
    const scopes = EVERY_SCOPE.filter((one) => !grantsScope([one], scope));
    return [caller, await secretOf({ ...full, scopes })] as const;
  });
  const just = { environments, routes: JUST_ROUTES, scopes: ['proxy'] };
  const callers = new Map<CallerKind, string | null>([
    ['without a token', null],
    ['with an unknown token', createTokenSecret()],
    ['with an expired token', expired],
    ['with a revoked token', revoked.token],
    ['with a secret that was rotated away', rotated.token],
    ['with a secret within its grace', graced.token],
    ['of another environment', await secretOf({ ...full, environments: ['development'] })],
    ['of another route', await secretOf({ ...full, routes: ['other'] })],
    ['that may only read', await secretOf({ ...full, scopes: READ_SCOPES })],
    ...(await Promise.all(withoutScope)),
    ['with exactly the required rights', await secretOf(just)],
  ]);
  await eventually(async () => {
    expect((await admin.get('/v1/environments', { token: expired })).status).toBe(401);
  });
  return callers;
}
