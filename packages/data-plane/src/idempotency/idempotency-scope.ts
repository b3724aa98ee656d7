import { createHash } from 'node:crypto';
import { toBuffer, type BodyBytes } from '@gateway/http1/message/body-bytes';
import type { RequestContext } from '../request/context.ts';

/**
 * Where a key is kept: a hash, so that no header value is. A key is one of its environment, its route
 * and its caller. Names are hashed, not ids, so that a route which was deleted and made again does not
 * run a request again that the old one ran.
 *
 * @returns 43 characters of base64url
 */
export function keyDigest(ctx: RequestContext, caller: string, key: string): string {
  const { environmentName = '', target } = ctx;
  return digest([environmentName, target.routeName, caller, key]).toString('base64url');
}

/** What makes a request the same: method, path, query and body, as 64 hex digits. */
export function fingerprintOf(ctx: RequestContext, body: BodyBytes | null): string {
  const { method, target } = ctx;
  return digest([method, target.path, target.query, toBuffer(body ?? '')]).toString('hex');
}

/** SHA-256 over the parts, each after its length, so that none can run into its neighbour. */
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
