import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import fc from 'fast-check';
import { parseIdempotencyKey } from './key-field.ts';

function refusal(value: string): GatewayError {
  try {
    parseIdempotencyKey(value);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('the key was taken');
}

describe('parseIdempotencyKey', () => {
  it.each([
    ['one character', 'a', 'a'],
    ['a bare key', '8e03978e-40d5-43e8', '8e03978e-40d5-43e8'],
    ['a quoted key', '"8e03978e"', '8e03978e'],
    ['a quoted key with a space', '"with a space"', 'with a space'],
    ['a quoted quotation mark', '"a\\"b"', 'a"b'],
    ['a bare quotation mark', 'a"b', 'a"b'],
    ['a quoted backslash', '"a\\\\b"', 'a\\b'],
    ['a bare backslash', 'a\\b', 'a\\b'],
    ['255 characters', 'x'.repeat(255), 'x'.repeat(255)],
    ['255 quoted characters', `"${'x'.repeat(255)}"`, 'x'.repeat(255)],
    ['255 escaped characters', `"${'\\"'.repeat(255)}"`, '"'.repeat(255)],
    ['punctuation', 'a,b;c=d', 'a,b;c=d'],
  ])('accepts %s', (_case, value, key) => {
    expect(parseIdempotencyKey(value)).toBe(key);
  });

  it.each([
    ['an empty field', ''],
    ['an empty quoted string', '""'],
    ['256 characters', 'x'.repeat(256)],
    ['256 quoted characters', `"${'x'.repeat(256)}"`],
    ['a bare space', 'a b'],
    ['a tab', 'a\tb'],
    ['a control character', 'a\u0001b'],
    ['a quoted control character', '"a\u0001b"'],
    ['DEL', 'a\u007fb'],
    ['a byte above ASCII', 'caf\u00e9'],
    ['a quoted byte above ASCII', '"caf\u00e9"'],
    ['a quotation mark alone', '"'],
    ['an open quotation mark', '"abc'],
    ['a quotation mark within quotes', '"a"b"'],
    ['something after the quotes', '"abc";a=1'],
    ['two joined keys', '"abc", "def"'],
    ['an escape of another character', '"a\\b"'],
    ['an escape at the end', '"abc\\"'],
  ])('refuses %s with 400, which names the field and not the key', (_case, value) => {
    const error = refusal(value);
    expect([error.status, error.code]).toEqual([400, 'invalid_request']);
    expect(error.details?.map((detail) => detail.path)).toEqual(['idempotency-key']);
    const text = `${error.message} ${JSON.stringify(error.details)}`;
    if (value.length > 2) expect(text).not.toContain(value);
  });

  it('treats a quoted key and the bare one as the same, and no two other keys', () => {
    const visible = fc.string({
      unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
      minLength: 1,
      maxLength: 255,
    });
    const quote = (key: string) => `"${key.replaceAll(/["\\]/g, '\\$&')}"`;
    fc.assert(
      fc.property(visible, (key) => {
        expect(parseIdempotencyKey(quote(key))).toBe(key);
        if (!key.startsWith('"')) expect(parseIdempotencyKey(key)).toBe(key);
      }),
    );
  });
});
