import { createHash, hash } from 'node:crypto';
import type { RecordedClaim } from '@gateway/shared/records/record';
import {
  MAX_RECORDED_CLAIM_CHARS,
  MAX_RECORDED_CLAIMS,
} from '@gateway/shared/records/record-bounds';
import { withoutTokenSecrets } from '@gateway/shared/tokens/secret';
import type { JWTPayload } from 'jose';
import type { JwtCaller } from '../../request/context.ts';
import type { JwtAuth, RequiredClaim } from '../../routing-table/compiled-auth.ts';

/** OpenID Connect Core section 2: a subject has at most 255 characters. */
const MAX_SUBJECT_CHARS = 255;

/** Why the route refuses the claims of a token with a valid signature; undefined if it accepts them. */
export function refuseClaims(payload: JWTPayload, auth: JwtAuth): string | undefined {
  const { sub } = payload;
  if (sub !== undefined && (typeof sub !== 'string' || sub.length > MAX_SUBJECT_CHARS)) {
    return `The claim sub of the token must be a string of at most ${MAX_SUBJECT_CHARS} characters.`;
  }
  for (const claim of auth.requiredClaims) {
    if (!Object.hasOwn(payload, claim.name)) return `The token lacks the claim ${claim.name}.`;
    if (!holds(payload, claim)) {
      return `The claim ${claim.name} of the token is not what the route requires.`;
    }
  }
  return undefined;
}

/** An array matches if one of its entries does; `scope` is a list of words (RFC 9068 section 2.2.3). */
function holds(payload: JWTPayload, { name, values }: RequiredClaim): boolean {
  if (values === undefined) return true;
  const claim = payload[name];
  const entries: unknown[] = Array.isArray(claim) ? claim : [claim];
  if (name === 'scope' && typeof claim === 'string') entries.push(...claim.split(' '));
  return entries.some((entry) => (values as ReadonlySet<unknown>).has(entry));
}

/** The caller that a verified token names. */
export function callerOf(payload: JWTPayload, auth: JwtAuth, token: string): JwtCaller {
  const { sub } = payload;
  const identity =
    sub === undefined || sub === ''
      ? `token\0${hash('sha256', signedPart(token))}`
      : `subject\0${auth.issuer}\0${sub}`;
  return Object.freeze({
    principal: `jwt:${createHash('sha256').update(identity).digest('base64url')}`,
    subject: sub,
    subjectField: sub === undefined || sub === '' ? undefined : encodeField(sub),
    ...recordedClaims(payload, auth),
  });
}

/**
 * The token without its signature. One valid signature can be written in several ways: unused bits at
 * the end of base64url, padding, and −s for s in ECDSA. Each spelling would count as another caller.
 */
function signedPart(token: string): string {
  return token.slice(0, token.lastIndexOf('.'));
}

function encodeField(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\x21-\x24\x26-\x7e]+/gu, (part) => encodeURIComponent(part));
}

function recordedClaims(
  payload: JWTPayload,
  auth: JwtAuth,
): Pick<JwtCaller, 'claims' | 'inexactClaims'> {
  const names = new Set(['iss', 'aud', ...auth.requiredClaims.map((claim) => claim.name)]);
  const kept: [string, RecordedClaim][] = [];
  let inexactClaims = ALL_EXACT;
  for (const name of names) {
    if (kept.length >= MAX_RECORDED_CLAIMS || !Object.hasOwn(payload, name)) continue;
    const claim = recorded(payload[name]);
    kept.push([name, claim]);
    if (!isExact(claim, payload[name])) inexactClaims = [...inexactClaims, name];
  }
  return { claims: Object.freeze(Object.fromEntries(kept)), inexactClaims };
}

const ALL_EXACT: readonly string[] = [];

/** Other JSON numbers can be read as their neighbours. */
function isExact(claim: RecordedClaim, given: unknown): boolean {
  return typeof given === 'number' ? Number.isSafeInteger(given) : claim === given;
}

/** A plain value or a list of strings unchanged; anything else, or what is too long, as truncated JSON. */
function recorded(claim: unknown): RecordedClaim {
  // A JSON number can exceed the range of a double and is then read as Infinity, which JSON cannot write.
  if (typeof claim === 'number') return Number.isFinite(claim) ? claim : String(claim);
  if (typeof claim === 'boolean') return claim;
  if (typeof claim === 'string') return truncated(claim);
  const json = JSON.stringify(claim);
  const plain = Array.isArray(claim) && claim.every((entry) => typeof entry === 'string');
  if (plain && json.length <= MAX_RECORDED_CLAIM_CHARS)
    return claim.map((entry) => truncated(entry));
  return truncated(json);
}

function truncated(text: string): string {
  return withoutTokenSecrets(text).slice(0, MAX_RECORDED_CLAIM_CHARS);
}
