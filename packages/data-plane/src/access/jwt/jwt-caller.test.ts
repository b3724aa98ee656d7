import { describe, expect, it } from '@jest/globals';
import { requestRecordSchema } from '@gateway/shared/records/record';
import type { JWTPayload } from 'jose';
import { JWT_AUTH } from '../../../test/jwt-verification.ts';
import { callerOf } from './jwt-caller.ts';

const claimsSchema = requestRecordSchema.shape.claims;

describe('the recorded claims of a caller', () => {
  it.each<[string, unknown]>([
    ['1e400', 'Infinity'],
    ['-1e400', '-Infinity'],
    ['[1e400]', '[null]'],
    ['9007199254740993', 9007199254740992],
    ['null', 'null'],
  ])('can be parsed as a record again: %s', (json, kept) => {
    const payload = JSON.parse(`{"tenant":${json}}`) as JWTPayload;
    const auth = { ...JWT_AUTH, requiredClaims: [{ name: 'tenant', values: undefined }] };
    const { claims } = callerOf(payload, auth, 'head.payload.signature');
    expect(claimsSchema.parse(JSON.parse(JSON.stringify(claims)))).toEqual({ tenant: kept });
  });
});

describe('the claims of a caller that are not known exactly', () => {
  it.each<[boolean, unknown]>([
    [true, 'acme'],
    [true, ''],
    [true, 'x'.repeat(256)],
    [false, 'x'.repeat(257)],
    [true, 7],
    [false, 0.1],
    [false, 2 ** 53],
    [false, Infinity],
    [true, false],
    [false, null],
    [false, ['acme']],
    [false, { a: 1 }],
  ])('exact: %j of %j', (isExact, tenant) => {
    const auth = { ...JWT_AUTH, requiredClaims: [{ name: 'tenant', values: undefined }] };
    const { inexactClaims } = callerOf({ tenant }, auth, 'head.payload.signature');
    expect(inexactClaims).toEqual(isExact ? [] : ['tenant']);
  });
});
