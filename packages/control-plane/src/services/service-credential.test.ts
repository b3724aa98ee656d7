import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { systemRandom } from '@gateway/shared/ids';
import { CredentialVault } from '@gateway/shared/secrets/upstream-credential';
import fc from 'fast-check';
import { z } from 'zod';
import { parseInput } from '../http/input.ts';
import {
  credentialField,
  reencryptCredential,
  sealCredential,
  type CredentialInput,
} from './service-credential.ts';

const older = { id: 'k1', bytes: randomBytes(32) };
const newer = { id: 'k2', bytes: randomBytes(32) };
const vault = new CredentialVault([older], systemRandom);
const body = z.strictObject({ credential: credentialField });
const now = new Date('2026-03-01T00:00:00Z');

function refusal(credential: unknown): GatewayError | undefined {
  try {
    parseInput<unknown>(body, { credential });
    return undefined;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

function paths(credential: unknown): string[] {
  return (refusal(credential)?.details ?? []).map(({ path }) => path);
}

const bearer = (token: unknown) => ({ type: 'bearer', token });
const basic = (username: unknown, password: unknown) => ({ type: 'basic', username, password });
const header = (name: unknown, value: unknown) => ({ type: 'header', name, value });

describe('a credential', () => {
  it.each([
    [null],
    [bearer('abc.DEF_~+/=')],
    [bearer('1|with-a-bar')],
    [bearer('x'.repeat(8192))],
    [basic('user', 'päss: wörd')],
    [basic('user', '')],
    [basic('', 'token')],
    [header('X-Api-Key', 'a b\tc')],
    [header('Authorization', 'ApiKey x')],
    [header('x_api_key', 'x')],
    [header('Cookie', 'session=1')],
  ])('may be %j', (credential) => {
    expect(paths(credential)).toEqual([]);
  });

  it.each([
    ['text', ['credential']],
    [[], ['credential']],
    [{}, ['credential.type']],
    [{ type: 'digest' }, ['credential.type']],
    [bearer(undefined), ['credential.token']],
    [bearer(''), ['credential.token']],
    [bearer(7), ['credential.token']],
    [bearer('a b'), ['credential.token']],
    [bearer('${PAY_TOKEN}'), ['credential.token']],
    [{ type: 'basic', username: 'u', password: '${PAY_PASSWORD}' }, ['credential.password']],
    [{ type: 'basic', username: '${PAY_USER}', password: 'p' }, ['credential.username']],
    [{ type: 'header', name: 'X-Key', value: '${PAY_VALUE}' }, ['credential.value']],
    [bearer('a\r\nX-Admin: 1'), ['credential.token']],
    [bearer('a\n'), ['credential.token']],
    [bearer('tökén'), ['credential.token']],
    [bearer('x'.repeat(8193)), ['credential.token']],
    [basic('us:er', 'x'), ['credential.username']],
    [basic('u\u0000', 'x'), ['credential.username']],
    [basic('u', 'x\r\n'), ['credential.password']],
    [basic('u', '\ud800'), ['credential.password']],
    [basic('', ''), ['credential.username']],
    [basic('u'.repeat(256), 'x'), ['credential.username']],
    [basic('u', 'x'.repeat(1025)), ['credential.password']],
    [header('X-Key', ''), ['credential.value']],
    [header('X-Key', ' a'), ['credential.value']],
    [header('X-Key', 'a '), ['credential.value']],
    [header('X-Key', 'a\r\nX-Admin: 1'), ['credential.value']],
    [header('X-Key', 'a\n'), ['credential.value']],
    [header('X-Key', 'x'.repeat(8193)), ['credential.value']],
    [header('', 'x'), ['credential.name']],
    [header('X Key', 'x'), ['credential.name']],
    [header('X-Key:', 'x'), ['credential.name']],
    [header('X-Key\r\n', 'x'), ['credential.name']],
    [header('x'.repeat(129), 'x'), ['credential.name']],
    [{ ...bearer('x'), header: 'x-key' }, ['credential']],
  ])('is refused as %j', (credential, expected) => {
    expect(paths(credential)).toEqual(expected);
  });

  it.each([
    'Connection',
    'Keep-Alive',
    'Proxy-Connection',
    'Proxy-Authorization',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Transfer_Encoding',
    'Upgrade',
    'Content-Length',
    'Content_Length',
    'Expect',
    'Host',
    'Via',
    'CDN-Loop',
    'Forwarded',
    'X-Forwarded-For',
    'X_Forwarded_Host',
    'traceparent',
    'X-Request-Id',
    'x_request_id',
    'X-Gateway-Subject',
    'x_gateway-version',
    'Sec-WebSocket-Key',
    'Idempotency-Key',
    'Content-Type',
  ])('is refused in the header %s', (name) => {
    expect(paths(header(name, 'x'))).toEqual(['credential.name']);
  });

  it.each([
    ['Authorization', 'NTLM mark3r'],
    ['authorization', 'Negotiate mark3r'],
    ['AUTHORIZATION', 'kerberos mark3r'],
  ])('is refused in %s if it authenticates a connection: %s', (name, value) => {
    const error = refusal(header(name, value));
    expect(error?.details).toEqual([
      {
        path: 'credential.value',
        message: expect.stringMatching(/^must not use \w+, which authenticates a connection/),
      },
    ]);
    expect(JSON.stringify(error)).not.toContain('mark3r');
    expect(paths(header('X-Key', value))).toEqual([]);
  });

  it('is never part of an error message', () => {
    const marker = 'mark3r-s3cret';
    const wrong = [
      marker,
      [marker],
      { [marker]: 1 },
      { type: marker },
      bearer([marker]),
      bearer(`${marker}\n`),
      bearer({ [marker]: marker }),
      { type: 'bearer', [marker]: 'x' },
      basic(`${marker}:`, marker),
      basic(marker, [marker]),
      basic(marker, `${marker}\u0000`),
      header(`${marker} `, marker),
      header(marker, `${marker}\r\n`),
      header('Host', marker),
      { ...header('x-key', marker), [marker]: marker },
    ];
    for (const credential of wrong) {
      const error = refusal(credential);
      expect(error?.code).toBe('invalid_request');
      expect(`${error?.message} ${JSON.stringify(error?.details)}`).not.toContain(marker);
    }
  });

  it('is stored as one encrypted header field, bound to its service', () => {
    const field = (input: CredentialInput) => {
      const stored = sealCredential(vault, input, 'svc_1', now);
      expect(() => vault.open(stored, 'svc_2')).toThrow();
      return { ...vault.open(stored, 'svc_1'), shown: [stored.type, stored.header] };
    };
    expect(field({ type: 'bearer', token: 'abc' })).toEqual({
      header: 'authorization',
      value: 'Bearer abc',
      shown: ['bearer', 'authorization'],
    });
    // The example of RFC 7617 section 2.1.
    expect(field({ type: 'basic', username: 'test', password: '123£' })).toEqual({
      header: 'authorization',
      value: 'Basic dGVzdDoxMjPCow==',
      shown: ['basic', 'authorization'],
    });
    expect(field({ type: 'header', name: 'X-Key', value: 'abc' })).toEqual({
      header: 'x-key',
      value: 'abc',
      shown: ['header', 'x-key'],
    });
  });

  it('keeps its value and set_at when it is encrypted with another key', () => {
    const token = fc.stringMatching(/^[!-~]{1,50}$/);
    const both = new CredentialVault([newer, older], systemRandom);
    fc.assert(
      fc.property(token, (text) => {
        const before = sealCredential(vault, { type: 'bearer', token: text }, 'svc_1', now);
        const after = reencryptCredential(both, before, 'svc_1');
        expect(after).toEqual({ ...before, key_id: 'k2', sealed: expect.any(String) });
        expect(both.open(after, 'svc_1').value).toBe(`Bearer ${text}`);
      }),
    );
  });
});
