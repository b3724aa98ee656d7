import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { MasterKey } from '../config/master-keys.ts';
import { systemRandom } from '../ids.ts';
import { SecretUnreadableError, SecretVault, type SealedSecret } from './secret-vault.ts';
import { CredentialVault } from './upstream-credential.ts';

const key = (id: string): MasterKey => ({ id, bytes: randomBytes(32) });
const older = key('k1');
const newer = key('k2');
const vault = new SecretVault([newer, older], 'tests', systemRandom);

function failure(open: () => unknown): { reason: string; keyId: string; message: string } {
  try {
    open();
  } catch (error) {
    if (error instanceof SecretUnreadableError) return error;
    throw error;
  }
  throw new Error('the secret was decrypted');
}

function changed(sealed: SealedSecret, at: number): SealedSecret {
  const bytes = Buffer.from(sealed.sealed, 'base64');
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return { ...sealed, sealed: bytes.toString('base64') };
}

describe('a sealed secret', () => {
  it('is decrypted for its owner only', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), fc.string(), (secret, one, two) => {
        const sealed = vault.seal(secret, one);
        expect(vault.open(sealed, one)).toBe(secret);
        if (one !== two) expect(failure(() => vault.open(sealed, two)).reason).toBe('unreadable');
      }),
    );
  });

  it('is encrypted with the newest key and decrypted with any known key', () => {
    const before = new SecretVault([older], 'tests', systemRandom).seal('x', 'svc');
    expect(before.key_id).toBe('k1');
    expect(vault.open(before, 'svc')).toBe('x');
    expect(vault.seal('x', 'svc').key_id).toBe('k2');
  });

  it('is different each time and contains nothing of the secret', () => {
    const secret = 'marker-of-a-secret';
    const texts = Array.from({ length: 50 }, () => vault.seal(secret, 'svc').sealed);
    expect(new Set(texts).size).toBe(50);
    for (const text of texts) {
      expect(Buffer.from(text, 'base64').toString('latin1')).not.toContain('marker');
    }
  });

  it('names a missing key', () => {
    const sealed = new SecretVault([key('k9')], 'tests', systemRandom).seal('x', 'svc');
    expect(failure(() => vault.open(sealed, 'svc'))).toMatchObject({
      reason: 'key_missing',
      keyId: 'k9',
      message: 'GATEWAY_MASTER_KEYS lacks the key k9',
    });
  });

  it('is not decrypted if a bit was changed, it was truncated, or it has another key or purpose', () => {
    const sealed = vault.seal('secret', 'svc');
    const length = Buffer.from(sealed.sealed, 'base64').length;
    for (let at = 0; at < length; at += 1) {
      expect(failure(() => vault.open(changed(sealed, at), 'svc')).reason).toBe('unreadable');
    }
    const others = [
      { ...sealed, sealed: '' },
      { ...sealed, sealed: sealed.sealed.slice(0, 24) },
      { ...sealed, key_id: 'k1' },
      new SecretVault([key('k2')], 'tests', systemRandom).seal('secret', 'svc'),
      new SecretVault([newer], 'another purpose', systemRandom).seal('secret', 'svc'),
    ];
    for (const other of others) {
      expect(failure(() => vault.open(other, 'svc')).reason).toBe('unreadable');
    }
  });
});

describe('a sealed credential', () => {
  const credentials = new CredentialVault([newer], systemRandom);
  const credential = { header: 'x-key', value: 'secret' };

  it('is decrypted to its header and value for its service only', () => {
    const sealed = credentials.seal(credential, 'svc_1');
    expect(credentials.open(sealed, 'svc_1')).toEqual(credential);
    expect(failure(() => credentials.open(sealed, 'svc_2')).reason).toBe('unreadable');
  });

  it('is not quoted in the error if it is malformed', () => {
    const sealed = new SecretVault([newer], 'upstream-credentials', systemRandom);
    for (const text of ['secret, not JSON', '{"header":"secret"}']) {
      const error = failure(() => credentials.open(sealed.seal(text, 'svc_1'), 'svc_1'));
      expect(error.reason).toBe('unreadable');
      expect(`${error.message} ${JSON.stringify(error)}`).not.toContain('secret');
    }
  });
});
