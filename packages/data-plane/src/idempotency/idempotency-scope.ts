import { hash } from 'node:crypto';
import { toBuffer, type BodyBytes } from '@gateway/http/message/body-bytes';
import type { RequestContext } from '../request/context.ts';

/**
 * The name of a key in the store. It is a hash, so that no header value is stored. A key belongs to its environment,
 * route and caller. The name of the route is hashed, not its id, so that a route that was deleted and created again does
 * not repeat a request. An environment that was created again has other owners, and starts without keys.
 *
 * @returns 43 characters of base64url
 */
export function keyDigest(ctx: RequestContext, caller: string, key: string): string {
  const { environment, target } = ctx;
  return digest([environment?.stateKey ?? '', target.routeName, caller, key], 'base64url');
}

/** The hash of method, path, query and body, as 64 hex digits. A duplicate has the same fingerprint. */
export function fingerprintOf(ctx: RequestContext, body: BodyBytes | null): string {
  const { method, target } = ctx;
  return digest([method, target.path, target.query, toBuffer(body ?? '')], 'hex');
}

const LENGTH_BYTES = 8;

/** SHA-256 over the parts, each after its length, so that different parts never give the same input. */
function digest(parts: readonly (string | Buffer)[], encoding: 'hex' | 'base64url'): string {
  let length = 0;
  for (const part of parts) length += LENGTH_BYTES + Buffer.byteLength(part);
  // Every byte is written below.
  const input = Buffer.allocUnsafe(length);
  let at = 0;
  for (const part of parts) {
    const start = at + LENGTH_BYTES;
    const written =
      typeof part === 'string' ? input.write(part, start, 'utf8') : part.copy(input, start);
    input.writeUInt16BE(0, at);
    input.writeUIntBE(written, at + 2, 6);
    at = start + written;
  }
  // In one call, which costs a third of a hash object with an update for each part.
  return hash('sha256', input, encoding);
}
