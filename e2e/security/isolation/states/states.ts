import { eventually } from '@gateway/shared/test/eventually';
import { expect } from '@jest/globals';
import type { Gateway } from '../../../harness/gateway.ts';
import { signedIn, signOut, type Credential } from './credential.ts';

/**
 * States of a session of the console whose token has every right of a call. `live`: the call succeeds. `grace`: it gets what
 * a secret within its grace gets, `ended`: what a caller without a token gets.
 */
export const STATES = {
  'with a session of the console': 'live',
  'with a session of a secret within its grace': 'grace',
  'with a session of a revoked token': 'ended',
  'with a session of an expired token': 'ended',
  'with a session of a secret that was rotated away': 'ended',
  'with a session that has signed out': 'ended',
} as const;

export type State = keyof typeof STATES;

const GRACE_SECONDS = 3600;

/** Rotates a token. Its former secret stays valid for an hour, or ends. */
export async function rotate(
  { admin }: Pick<Gateway, 'admin'>,
  tokenId: string,
  grace: 'grace' | 'no grace',
): Promise<string> {
  const grace_seconds = grace === 'grace' ? GRACE_SECONDS : 0;
  const answer = await admin.post(`/v1/tokens/${tokenId}/rotate`, { grace_seconds });
  if (answer.status !== 200) throw new Error(`rotate: ${answer.status} ${answer.body}`);
  return String(answer.resource()['secret']);
}

/** Lets a token expire within a second. It cannot be set to a time that has passed. */
async function expireSoon({ admin }: Pick<Gateway, 'admin'>, tokenId: string): Promise<void> {
  await eventually(async () => {
    const expires_at = new Date(Date.now() + 1000).toISOString();
    const answer = await admin.patch(`/v1/tokens/${tokenId}`, { expires_at });
    expect(answer.status).toBe(200);
  });
}

/** A credential in each state, of tokens with these rights. */
export async function createStates(
  gateway: Gateway,
  rights: Readonly<Record<string, unknown>>,
): Promise<ReadonlyMap<State, Credential>> {
  const { admin } = gateway;
  const newToken = () => gateway.tokenClient(rights);
  const expiring = await newToken();
  const expired = await signedIn(gateway, expiring.token);
  const graced = await newToken();
  const live = await newToken();
  const revoked = await newToken();
  const rotated = await newToken();
  const left = await newToken();
  const states = new Map<State, Credential>([
    ['with a session of the console', await signedIn(gateway, live.token)],
    ['with a session of a secret within its grace', await signedIn(gateway, graced.token)],
    ['with a session of a revoked token', await signedIn(gateway, revoked.token)],
    ['with a session of an expired token', expired],
    ['with a session of a secret that was rotated away', await signedIn(gateway, rotated.token)],
  ]);
  const session = await signedIn(gateway, left.token);
  states.set('with a session that has signed out', session);
  await rotate(gateway, graced.tokenId, 'grace');
  await admin.delete(`/v1/tokens/${revoked.tokenId}`);
  await rotate(gateway, rotated.tokenId, 'no grace');
  await signOut(gateway, session);
  await expireSoon(gateway, expiring.tokenId);
  await eventually(async () => {
    const path = `${expired.prefix}/v1/whoami`;
    const { status } = await admin.call('GET', path, { token: null, headers: expired.headers });
    expect(status).toBe(401);
  });
  return states;
}
