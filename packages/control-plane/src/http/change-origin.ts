import { timeOfId } from '@gateway/shared/ids';
import type { ChangeOrigin } from '../domain/audit-event.ts';
import type { Call } from './endpoint.ts';
import type { ResourceParts } from '../resources/resource-parts.ts';

/** Who makes the change of this call, from where, and when: now. */
export function originOf(
  { newId }: Pick<ResourceParts, 'newId'>,
  { token, clientAddress, requestId }: Call<unknown, unknown>,
): ChangeOrigin {
  const id = newId('aud');
  const at = new Date(timeOfId(id));
  return { id, at, tokenId: token.id, clientAddress, requestId };
}
