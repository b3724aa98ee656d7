import type { ChangeOrigin } from '../changes/store/change-origin.ts';
import type { Call } from './endpoint.ts';
import type { ResourceDeps } from './resource-deps.ts';

/** The origin of a change, for the audit trail: the token, address and request of the call. */
export function originOf(
  { newId, clock }: Pick<ResourceDeps, 'newId' | 'clock'>,
  { token, confirmToken, clientAddress, requestId, runChange, signal }: Call<unknown, unknown>,
): ChangeOrigin {
  return {
    caller: { tokenId: token.id, confirmToken },
    clientAddress,
    requestId,
    newEventId: (atMs) => newId('aud', atMs),
    runChange,
    clock,
    signal,
    reach: token,
  };
}
