import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { systemRandom } from '../ids.ts';
import { SecretUnreadableError } from './secret-vault.ts';
import { CredentialVault } from './upstream-credential.ts';

const vault = new CredentialVault([{ id: 'k1', bytes: randomBytes(32) }], systemRandom);

describe('a sealed credential of an upstream', () => {
  it('is decrypted unchanged', () => {
    const credential = { header: 'x-api-key', value: 'a \t\u00e9' };
    expect(vault.open(vault.seal(credential, 'svc'), 'svc')).toEqual(credential);
  });

  it.each([
    { header: 'x\r\ny', value: 'a' },
    { header: 'x y', value: 'a' },
    { header: '', value: 'a' },
    { header: 'x', value: 'a\r\nInjected: 1' },
    { header: 'x', value: 'a\0' },
    // Each character is sent as one byte, these as CR and LF.
    { header: 'x', value: 'a\u010d\u010aInjected: 1' },
    { header: 'x', value: 'a\x7f' },
  ])('is unreadable if it would be more than one header: $header', (credential) => {
    const sealed = vault.seal(credential, 'svc');
    expect(() => vault.open(sealed, 'svc')).toThrow(SecretUnreadableError);
  });
});
