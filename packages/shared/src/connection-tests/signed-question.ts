import { createHmac, timingSafeEqual } from 'node:crypto';
import { deriveKey, type MasterKey } from '../config/master-keys.ts';

const HEAD = /^([A-Za-z0-9_-]{1,64}) ([0-9a-f]{64})\n/;
const HEAD_CHARS = 130;

/** Signs a question with the newest key: a line with the id of the key and the signature, then the text. */
export function signQuestion(text: string, keys: readonly MasterKey[]): string {
  const key = keys[0];
  if (key === undefined) throw new Error('GATEWAY_MASTER_KEYS has no key to sign with');
  return `${key.id} ${signatureOf(key, text).toString('hex')}\n${text}`;
}

/**
 * Verifies a question: write access to NATS alone is not enough to make a data plane connect somewhere.
 *
 * @returns its text; undefined if it is not signed with one of these keys
 */
export function verifiedQuestion(signed: string, keys: readonly MasterKey[]): string | undefined {
  const [head = '', id, signature = ''] = HEAD.exec(signed.slice(0, HEAD_CHARS)) ?? [];
  const key = keys.find((candidate) => candidate.id === id);
  if (key === undefined) return undefined;
  const text = signed.slice(head.length);
  const isSigned = timingSafeEqual(signatureOf(key, text), Buffer.from(signature, 'hex'));
  return isSigned ? text : undefined;
}

function signatureOf(key: MasterKey, text: string): Buffer {
  return createHmac('sha256', deriveKey(key, 'connection-test-signature')).update(text).digest();
}
