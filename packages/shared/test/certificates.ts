import {
  createHash,
  generateKeyPairSync,
  randomBytes,
  sign,
  X509Certificate,
  type KeyObject,
} from 'node:crypto';
import { isIP } from 'node:net';
import { bitString, contextTag, explicitTag, integer, oid, octetString } from './der.ts';
import { booleanTrue, sequence, set, utcTime, utf8String } from './der.ts';

/** A certificate and its private key, both PEM, created for one test run. */
export interface TestCertificate {
  readonly certPem: string;
  readonly keyPem: string;
}

/** A certificate authority of a test. */
export interface TestAuthority {
  /** Its own certificate, PEM, which the other side must trust. */
  readonly certPem: string;
  /** Issues a certificate for these DNS names and addresses, by default valid from an hour ago. */
  issue(names: readonly string[], validity?: Partial<Validity>): TestCertificate;
}

interface Validity {
  readonly fromMs: number;
  readonly untilMs: number;
}

const HOUR_MS = 3_600_000;
const ECDSA_WITH_SHA256 = sequence(oid('1.2.840.10045.4.3.2'));
const COMMON_NAME = '2.5.4.3';
const BASIC_CONSTRAINTS = '2.5.29.19';
const SUBJECT_ALT_NAME = '2.5.29.17';
const SUBJECT_KEY_ID = '2.5.29.14';

/** Creates an authority with a new key (X.509 v3, RFC 5280; ECDSA on P-256). */
export function createTestAuthority(name: string): TestAuthority {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const own = makeCertificate({
    subject: name,
    issuer: name,
    publicKey: keys.publicKey,
    signingKey: keys.privateKey,
    isAuthority: true,
    names: [],
    validity: validFor(),
  });
  return {
    certPem: own,
    issue(names, validity) {
      const leaf = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const certPem = makeCertificate({
        subject: names[0] ?? name,
        issuer: name,
        publicKey: leaf.publicKey,
        signingKey: keys.privateKey,
        isAuthority: false,
        names,
        validity: { ...validFor(), ...validity },
      });
      return {
        certPem,
        keyPem: leaf.privateKey.export({ type: 'pkcs8', format: 'pem' }),
      };
    },
  };
}

function validFor(): Validity {
  const nowMs = Date.now();
  return { fromMs: nowMs - HOUR_MS, untilMs: nowMs + 24 * HOUR_MS };
}

interface CertificateFields {
  readonly subject: string;
  readonly issuer: string;
  readonly publicKey: KeyObject;
  readonly signingKey: KeyObject;
  readonly isAuthority: boolean;
  readonly names: readonly string[];
  readonly validity: Validity;
}

function makeCertificate(fields: CertificateFields): string {
  const { names, validity, isAuthority } = fields;
  const publicKey = fields.publicKey.export({ type: 'spki', format: 'der' });
  const extensions = [extension(SUBJECT_KEY_ID, octetString(sha1(publicKey)))];
  if (isAuthority) extensions.push(extension(BASIC_CONSTRAINTS, sequence(booleanTrue)));
  if (names.length > 0)
    extensions.push(extension(SUBJECT_ALT_NAME, sequence(...names.map(altName))));
  const toBeSigned = sequence(
    explicitTag(0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_WITH_SHA256,
    distinguishedName(fields.issuer),
    sequence(utcTime(validity.fromMs), utcTime(validity.untilMs)),
    distinguishedName(fields.subject),
    publicKey,
    explicitTag(3, sequence(...extensions)),
  );
  const signature = sign('sha256', toBeSigned, fields.signingKey);
  const der = sequence(toBeSigned, ECDSA_WITH_SHA256, bitString(signature));
  return new X509Certificate(der).toString();
}

function distinguishedName(name: string): Buffer {
  return sequence(set(sequence(oid(COMMON_NAME), utf8String(name))));
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(oid(id), octetString(value));
}

/** RFC 5280 section 4.2.1.6: dNSName is [2], iPAddress is [7]. The only supported IPv6 address is ::1. */
function altName(name: string): Buffer {
  if (isIP(name) === 4) return contextTag(7, Buffer.from(name.split('.').map(Number)));
  if (name === '::1') return contextTag(7, Buffer.from([...new Array<number>(15).fill(0), 1]));
  return contextTag(2, Buffer.from(name, 'ascii'));
}

function sha1(bytes: Buffer): Buffer {
  return createHash('sha1').update(bytes).digest();
}
