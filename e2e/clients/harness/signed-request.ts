import { createHash, createHmac } from 'node:crypto';
import type { Received } from './server.ts';

export interface SigningKey {
  readonly id: string;
  readonly secret: string;
}

/** The parts of a signature that the request names. */
interface Claim {
  readonly credential: string;
  readonly signedHeaders: string;
  readonly signature: string;
  readonly date: string;
  readonly payload: string;
}

/**
 * Whether a request has the signature that its key gives it (AWS Signature Version 4, in the header or in the query, with
 * the path as it was sent, as S3 takes it). It covers the method, the path, the query, the named fields, of which `Host` is
 * one, and what the request says of its payload.
 */
export function isSigned(received: Received, { id, secret }: SigningKey): boolean {
  const { request, method, path } = received;
  const [rawPath = '', rawQuery = ''] = path.split('?', 2);
  const query = rawQuery.split('&').filter((one) => one !== '');
  const claim = claimOf(received, query);
  if (claim === undefined) return false;
  const [keyId, day = '', region = '', service = '', end = ''] = claim.credential.split('/');
  if (keyId !== id) return false;
  const names = claim.signedHeaders.split(';');
  const canonical = [
    method,
    rawPath,
    query
      .filter((one) => !one.startsWith('X-Amz-Signature='))
      .map((one) => (one.includes('=') ? one : `${one}=`))
      .toSorted()
      .join('&'),
    ...names.map(
      (name) =>
        `${name}:${String(request.headers[name] ?? '')
          .replace(/ +/g, ' ')
          .trim()}`,
    ),
    '',
    claim.signedHeaders,
    claim.payload,
  ].join('\n');
  const hashed = createHash('sha256').update(canonical).digest('hex');
  const scope = [day, region, service, end].join('/');
  const text = ['AWS4-HMAC-SHA256', claim.date, scope, hashed].join('\n');
  const key = [day, region, service, end].reduce<string | Buffer>(
    (by, part) => createHmac('sha256', by).update(part).digest(),
    `AWS4${secret}`,
  );
  return createHmac('sha256', key).update(text).digest('hex') === claim.signature;
}

function claimOf({ request }: Received, query: readonly string[]): Claim | undefined {
  const parameters = new URLSearchParams(query.join('&'));
  const header = request.headers.authorization;
  if (header !== undefined) {
    const part = (name: string) => new RegExp(`${name}=([^, ]+)`).exec(header)?.[1] ?? '';
    return {
      credential: part('Credential'),
      signedHeaders: part('SignedHeaders'),
      signature: part('Signature'),
      date: String(request.headers['x-amz-date']),
      payload: String(request.headers['x-amz-content-sha256']),
    };
  }
  const signature = parameters.get('X-Amz-Signature');
  if (signature === null) return undefined;
  return {
    credential: parameters.get('X-Amz-Credential') ?? '',
    signedHeaders: parameters.get('X-Amz-SignedHeaders') ?? '',
    signature,
    date: parameters.get('X-Amz-Date') ?? '',
    payload: 'UNSIGNED-PAYLOAD',
  };
}
