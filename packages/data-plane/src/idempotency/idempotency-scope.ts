import { createHash } from 'node:crypto';
import { toBuffer, type BodyBytes } from '@gateway/http1/message/body-bytes';
import type { RequestContext } from '../request/context.ts';

/**
 * The name of a key in the store. It is a hash, so that no header value is stored. A key belongs to its environment,
 * route and caller. Names are hashed, not ids, so that a route that was deleted and created again does not repeat a
 * request.
 *
 * @returns 43 characters of base64url
 */
export function keyDigest(ctx: RequestContext, caller: string, key: string): string {
  const { environmentName = '', target } = ctx;
  return digest([environmentName, target.routeName, caller, key]).toString('base64url');
}

/** The hash of method, path, query and body, as 64 hex digits. A duplicate has the same fingerprint. */
export function fingerprintOf(ctx: RequestContext, body: BodyBytes | null): string {
  const { method, target } = ctx;
  return digest([method, target.path, target.query, toBuffer(body ?? '')]).toString('hex');
}

/** SHA-256 over the parts, each after its length, so that different parts never give the same input. */
function digest(parts: readonly (string | Buffer)[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) {
    const bytes = typeof part === 'string' ? Buffer.from(part, 'utf8') : part;
    const length = Buffer.alloc(8);
    length.writeBigUInt64BE(BigInt(bytes.length));
    hash.update(length).update(bytes);
  }
  return hash.digest();
}
