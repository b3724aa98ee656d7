import { describe, expect, it } from '@jest/globals';
import { natsUrlVariable, parseNatsUrl } from './nats-url.ts';

describe('NATS_URL', () => {
  it.each([
    ['nats://127.0.0.1:4222', { servers: ['127.0.0.1:4222'] }],
    ['nats.internal', { servers: ['nats.internal:4222'] }],
    ['a:1, nats://b', { servers: ['a:1', 'b:4222'] }],
    ['nats://[::1]:4223/', { servers: ['[::1]:4223'] }],
    ['tls://a,tls://b:1', { servers: ['a:4222', 'b:1'], tls: {} }],
    ['tls://u:p@a', { servers: ['a:4222'], tls: {}, user: 'u', pass: 'p' }],
    ['nats://u:p%3A%40%2F@a,nats://b', { servers: ['a:4222', 'b:4222'], user: 'u', pass: 'p:@/' }],
    ['nats://u:p@a,nats://u:p@b', { servers: ['a:4222', 'b:4222'], user: 'u', pass: 'p' }],
    ['nats://s3cret@a', { servers: ['a:4222'], token: 's3cret' }],
  ])('%s is parsed to servers, TLS and credentials', (text, expected) => {
    expect(parseNatsUrl(text)).toEqual(expected);
    expect(natsUrlVariable.parse(text)).toBe(text);
  });

  it.each([
    ['', 'must be a comma-separated list of nats://'],
    ['nats://', 'must be a comma-separated list of nats://'],
    ['http://s3cret.example', 'must be a comma-separated list of nats://'],
    ['nats://s3cret:99999', 'must be a comma-separated list of nats://'],
    ['nats://a/s3cret', 'must be a comma-separated list of nats://'],
    ['nats://a?s3cret', 'must be a comma-separated list of nats://'],
    ['tls://a,nats://b', 'must be tls:// for all'],
    ['tls://a,b', 'must be tls:// for all'],
    ['nats://u:s3cret@a,nats://v:s3cret@b', 'must not contain two different users'],
    ['nats://u:s3cret%zz@a', 'percent-encoded'],
  ])('%s is refused without repeating it', (text, reason) => {
    expect(() => parseNatsUrl(text)).toThrow(reason);
    expect(() => parseNatsUrl(text)).not.toThrow('s3cret');
    expect(natsUrlVariable.safeParse(text).error?.issues).toMatchObject([
      { message: expect.stringContaining(reason) },
    ]);
  });
});
