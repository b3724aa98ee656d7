import { describe, expect, it } from '@jest/globals';
import {
  answersConnectionAuth,
  authenticatesConnection,
  connectionAuthScheme,
} from './connection-auth.ts';

describe('a credential', () => {
  it.each([
    ['Negotiate YIIB', 'Negotiate'],
    ['NTLM TlRMTVNTUAAB', 'NTLM'],
    ['Kerberos YIIB', 'Kerberos'],
    ['Nego2 YIIB', 'Nego2'],
    ['CredSSP TlRM', 'CredSSP'],
    ['nTlM\tTlRM', 'NTLM'],
    ['negotiate', 'Negotiate'],
    ['NTLM, TlRM', 'NTLM'],
    [' ,NTLM TlRM', 'NTLM'],
    ['NTLM=', 'NTLM'],
    ['GSS-Negotiate YIIB', 'GSS-Negotiate'],
    ['PKU2U YIIB', 'PKU2U'],
    ['\xa0NTLM TlRM', 'NTLM'],
    ['\x85NTLM TlRM', 'NTLM'],
    ['"NTLM" TlRM', 'NTLM'],
    [';NTLM TlRM', 'NTLM'],
  ])('%j authenticates its connection', (credentials, scheme) => {
    expect(connectionAuthScheme(credentials)).toBe(scheme);
    expect(authenticatesConnection(['accept', '*/*', 'Authorization', credentials])).toBe(true);
    expect(authenticatesConnection(['proxy-authorization', credentials])).toBe(true);
    expect(authenticatesConnection(['x-authorizatio', credentials])).toBe(false);
  });

  it.each([
    '',
    'Bearer NTLM',
    'Basic TlRMTSA=',
    'Digest username="a, NTLM b", realm="Negotiate"',
    'NTLMv2 TlRM',
    'Negotiate-Other x',
    'SCRAM-SHA-256 data=',
    'AWS4-HMAC-SHA256 Credential=x',
  ])('%j does not', (credentials) => {
    expect(connectionAuthScheme(credentials)).toBeUndefined();
    expect(authenticatesConnection(['authorization', credentials])).toBe(false);
  });
});

describe('a response', () => {
  it.each([
    [['WWW-Authenticate', 'NTLM']],
    [['www-authenticate', 'Negotiate oYG2']],
    [['www-authenticate', 'Basic realm="x"', 'WWW-Authenticate', 'negotiate']],
    [['WWW-Authenticate', 'Basic realm="x", charset="UTF-8",\tKerberos']],
    [['Proxy-Authenticate', 'NTLM TlRM']],
    [['WWW-Authenticate', 'Basic realm="x" NTLM']],
    [['WWW-Authenticate', 'Basic realm="x"; NTLM']],
    // It costs a connection, no more.
    [['WWW-Authenticate', 'Digest realm="users of NTLM"']],
    [['Persistent-Auth', 'true']],
    [['persistent-auth', 'false']],
  ])('with %j belongs to the authentication of its connection', (fields) => {
    expect(answersConnectionAuth(fields)).toBe(true);
  });

  it.each([
    [[]],
    [['WWW-Authenticate', 'Bearer error="invalid_token"']],
    [['WWW-Authenticate', 'Digest realm="users of NTLMv2"']],
    [['X-Frame-Options', 'NTLM', 'x-authenticated', 'NTLM', 'x-my-authenticate', 'NTLM']],
  ])('with %j does not', (fields) => {
    expect(answersConnectionAuth(fields)).toBe(false);
  });
});
