import { decodeJwt } from 'jose';
import type { JwtAuth } from '../../routing-table/routing-table.ts';

/**
 * Whether the token says that the issuer of the route made it. It proves nothing, because anybody can write that. Only
 * such a token may wait for the keys of the issuer, or learn that they are not available: its client must not discard a
 * token that is valid, and nobody else is to learn from it that the route exists.
 */
export function namesIssuer(token: string, { issuer }: Pick<JwtAuth, 'issuer'>): boolean {
  try {
    return decodeJwt(token).iss === issuer;
  } catch {
    return false;
  }
}
