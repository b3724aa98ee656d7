import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fromBase64, toBase64 } from './base64.ts';
import {
  explainedRequest,
  firstDraft,
  headersOf,
  hostsOf,
  isSafe,
  sentHeaders,
  targetBelow,
  targetParts,
} from './send-draft.ts';
import { shownBody } from './shown-body.ts';

const token = { type: 'token' } as const;
const draft = firstDraft({ name: 'charges', auth: token });
const bytes = (text: string) => new TextEncoder().encode(text);

describe('the panel that sends requests', () => {
  it('begins with a GET, and a token that the route takes', () => {
    expect(draft).toMatchObject({ method: 'GET', target: '', body: '', token: 'minted' });
    expect(firstDraft({ name: 'a', auth: { type: 'none' } }).token).toBe('none');
    const jwt = { type: 'jwt' } as Parameters<typeof firstDraft>[0]['auth'];
    expect(firstDraft({ name: 'a', auth: jwt }).token).toBe('given');
  });

  it.each([
    ['/v1/proxy/charges', ''],
    ['/v1/proxy/charges/', '/'],
    ['/v1/proxy/charges/17', '/17'],
    ['/v1/proxy/charges-eu/17', '/v1/proxy/charges-eu/17'],
    ['/v2/payments/17', '/v2/payments/17'],
  ])('begins for a request to %s with the path %j', (path, expected) => {
    expect(targetBelow('charges', path)).toBe(expected);
    const record = { method: 'PUT', path };
    expect(firstDraft({ name: 'charges', auth: token }, record)).toMatchObject({
      method: 'PUT',
      target: expected,
    });
  });

  it('asks before every method that may change something', () => {
    const asked = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE', 'get', 'PURGE'];
    expect(asked.filter((method) => !isSafe(method))).toEqual([
      ...['POST', 'PUT', 'PATCH', 'DELETE', 'get', 'PURGE'],
    ]);
  });

  it('offers the hosts of the route that are whole', () => {
    const match = [{ hosts: ['a.example', '*.b.example'] }, { hosts: ['a.example', 'c.example'] }];
    expect(hostsOf({ match } as unknown as Parameters<typeof hostsOf>[0])).toEqual([
      ...['a.example', 'c.example'],
    ]);
  });

  it('reads headers from lines, and keeps what the control plane must refuse', () => {
    expect(headersOf('A: 1\n\n b :2:3 \nA: 4\nodd')).toEqual([
      ...[
        ['A', '1'],
        ['b', '2:3'],
        ['A', '4'],
        ['odd ', ''],
      ],
    ]);
    expect(targetParts('/17?a=1?b')).toEqual({ path: '/17', query: 'a=1?b' });
    expect(targetParts('17')).toEqual({ path: '/17', query: '' });
    expect(targetParts('?a=1')).toEqual({ path: '', query: 'a=1' });
  });

  it('names JSON as such, unless the sender names the type', () => {
    expect(sentHeaders({ ...draft, body: '{"a":1}' })).toEqual([
      ['Content-Type', 'application/json'],
    ]);
    expect(sentHeaders({ ...draft, body: 'a=1' })).toEqual([]);
    const headers = 'content-TYPE: text/plain';
    expect(sentHeaders({ ...draft, headers, body: '{}' })).toEqual([
      ['content-TYPE', 'text/plain'],
    ]);
  });

  it('asks to explain the request that was sent', () => {
    const sent = { ...draft, target: '/17?a=1', headers: 'A: 1\nA: 2', host: 'a.example' };
    expect(explainedRequest(sent, 'tok_1')).toEqual({
      method: 'GET',
      path: '/17',
      query: 'a=1',
      headers: { A: ['1', '2'], Host: ['a.example'] },
      token_id: 'tok_1',
    });
    expect(explainedRequest({ ...draft, body: 'x' }, null)).toMatchObject({
      anonymous: true,
      body: 'x',
    });
    const withCredential = { ...draft, headers: 'authorization: Basic eDp5' };
    expect(explainedRequest(withCredential, null)).not.toHaveProperty('anonymous');
    expect(explainedRequest({ ...draft, body: 'x'.repeat(70_000) }, null)).not.toHaveProperty(
      'body',
    );
  });
});

describe('a body', () => {
  it('survives base64, whatever it is', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 70_000 }), (given) => {
        const base64 = toBase64(given);
        expect(atob(base64).length).toBe(given.length);
        expect([...fromBase64(base64)]).toEqual([...given]);
      }),
      { numRuns: 20, seed: 104 },
    );
  });

  it('is text, JSON with indents, or neither', () => {
    expect(shownBody(bytes('{"a":[1]}'), true)).toEqual({
      raw: '{"a":[1]}',
      pretty: '{\n  "a": [\n    1\n  ]\n}',
    });
    expect(shownBody(bytes('plain\ttext\n'), true)).toEqual({
      raw: 'plain\ttext\n',
      pretty: undefined,
    });
    expect(shownBody(Uint8Array.of(0xff, 0xd8, 0xff), true).raw).toBeUndefined();
    expect(shownBody(bytes('a\0b'), true).raw).toBeUndefined();
  });

  it('that was cut within a character is text up to that', () => {
    expect(shownBody(bytes('aé').slice(0, 2), false).raw).toBe('a');
    expect(shownBody(bytes('aé').slice(0, 2), true).raw).toBeUndefined();
  });
});
