import { createHash, createPublicKey, sign, verify, type KeyObject } from 'node:crypto';

/**
 * Signatures in the format of minisign: Ed25519 over the BLAKE2b-512 of a file, and over that signature with a comment that is
 * trusted. `minisign -V` verifies them.
 *
 * @see https://jedisct1.github.io/minisign/
 */

/** Signs pure files; read, never made. */
const OF_FILE = 'Ed';
/** Signs the BLAKE2b-512 of a file. */
const OF_HASH = 'ED';
const [KEY_ID_BYTES, KEY_BYTES, SIGNATURE_BYTES] = [8, 32, 64];
const [UNTRUSTED, TRUSTED] = ['untrusted comment: ', 'trusted comment: '];
/** What precedes the 32 bytes of an Ed25519 key in its DER form (RFC 8410). */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/** A key that verifies, and the number by which minisign finds it. */
export interface PublicKey {
  readonly id: Buffer;
  readonly key: KeyObject;
}

/** The public half of a secret key. Its id is made of the key, so that the secret key is all that must be kept. */
export function publicKeyOf(secret: KeyObject): PublicKey {
  const key = createPublicKey(secret);
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('the key must be an Ed25519 key');
  const id = createHash('sha256').update(rawKey(key)).digest().subarray(0, KEY_ID_BYTES);
  return { id, key };
}

/** The file that `minisign -p` reads. */
export function writePublicKey({ id, key }: PublicKey): string {
  const bytes = Buffer.concat([Buffer.from(OF_FILE), id, rawKey(key)]);
  return `${UNTRUSTED}minisign public key ${keyName(id)}\n${bytes.toString('base64')}\n`;
}

/** @throws Error if the text is no public key of minisign */
export function readPublicKey(text: string): PublicKey {
  const [, line = ''] = text.split('\n');
  const { algorithm, id, rest } = numbered(line, KEY_BYTES, 'public key');
  if (algorithm !== OF_FILE) throw new Error('the public key is not of Ed25519');
  const der = Buffer.concat([SPKI_PREFIX, rest]);
  return { id, key: createPublicKey({ key: der, format: 'der', type: 'spki' }) };
}

/** The name that minisign prints: the id as a number, little-endian. */
function keyName(id: Buffer): string {
  return Buffer.from(id).reverse().toString('hex').toUpperCase();
}

export interface SignatureComments {
  readonly untrusted: string;
  /** Signed with the file. */
  readonly trusted: string;
}

/** The signature of a file, as `minisign -S -H` makes it. Ed25519 has no randomness: the same inputs give the same text. */
export function signFile(file: Buffer, secret: KeyObject, comments: SignatureComments): string {
  for (const comment of Object.values(comments) as string[]) {
    if (/[\r\n]/.test(comment)) throw new Error('a comment must be one line');
  }
  const { id } = publicKeyOf(secret);
  const signature = sign(null, blake2b(file), secret);
  const whole = sign(null, Buffer.concat([signature, Buffer.from(comments.trusted)]), secret);
  const bytes = Buffer.concat([Buffer.from(OF_HASH), id, signature]);
  return [
    UNTRUSTED + comments.untrusted,
    bytes.toString('base64'),
    TRUSTED + comments.trusted,
    whole.toString('base64'),
    '',
  ].join('\n');
}

/**
 * Verifies a signature.
 *
 * @returns the trusted comment
 * @throws Error if the file, the comment or the key is another one
 */
export function verifyFile(file: Buffer, text: string, { id, key }: PublicKey): string {
  const [first = '', line = '', comment = '', last = ''] = text.split('\n');
  if (!first.startsWith(UNTRUSTED) || !comment.startsWith(TRUSTED)) {
    throw new Error('not a signature of minisign');
  }
  const { algorithm, id: signer, rest: signature } = numbered(line, SIGNATURE_BYTES, 'signature');
  if (algorithm !== OF_HASH) throw new Error('the signature is not of a hash');
  if (!signer.equals(id)) {
    throw new Error(`signed with the key ${keyName(signer)}, not with ${keyName(id)}`);
  }
  const trusted = comment.slice(TRUSTED.length);
  const whole = Buffer.concat([signature, Buffer.from(trusted)]);
  if (!verify(null, blake2b(file), key, signature)) throw new Error('the file was changed');
  if (!verify(null, whole, key, Buffer.from(last, 'base64'))) {
    throw new Error('the trusted comment was changed');
  }
  return trusted;
}

function numbered(line: string, bytes: number, what: string) {
  const all = Buffer.from(line, 'base64');
  if (all.length !== 2 + KEY_ID_BYTES + bytes) throw new Error(`not a ${what} of minisign`);
  const algorithm = all.toString('latin1', 0, 2);
  const rest = all.subarray(2 + KEY_ID_BYTES);
  return { algorithm, id: all.subarray(2, 2 + KEY_ID_BYTES), rest };
}

function rawKey(key: KeyObject): Buffer {
  return key.export({ format: 'der', type: 'spki' }).subarray(SPKI_PREFIX.length);
}

function blake2b(file: Buffer): Buffer {
  return createHash('blake2b512').update(file).digest();
}
