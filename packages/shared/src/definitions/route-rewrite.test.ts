import { describe, expect, it } from '@jest/globals';
import { rewriteField } from './route-rewrite.ts';

/** The fields that are wrong, with the messages. */
function problemsOf(rewrite: object): readonly (readonly [path: string, message: string])[] {
  const parsed = rewriteField.safeParse(rewrite);
  return parsed.success
    ? []
    : parsed.error.issues.map(({ path, message }) => [path.join('.'), message]);
}

const setRequest = (name: string, value = '1') => ({
  request_headers: { set: [{ name, value }] },
});
const setResponse = (name: string) => ({ response_headers: { add: [{ name, value: '1' }] } });

describe('the rewriting of a route', () => {
  it('changes nothing by default', () => {
    const none = { set: [], add: [], remove: [] };
    expect(rewriteField.parse({})).toEqual({
      strip_prefix: null,
      add_prefix: null,
      path: null,
      host: 'upstream',
      query: { set: [], remove: [] },
      request_headers: none,
      response_headers: none,
    });
  });

  it.each<[object]>([
    [{ strip_prefix: '/api', add_prefix: '/v2/{route.name}' }],
    [{ path: '/' }],
    [{ path: '/a%2Fb/;v=1/{path.rest}' }],
    [{ path: '/{jwt.claims.https://a.example/tenant}' }],
    [{ host: 'preserve' }],
    [{ host: 'API.internal' }],
    [{ host: 'service_a:8080' }],
    [{ host: '192.0.2.1' }],
    [{ host: '[2001:db8::1]:443' }],
    [{ query: { set: [{ name: 'filter[a b]', value: 'é & {client.ip}' }], remove: ['x'] } }],
    [setRequest('X-Real-IP', '{client.ip}')],
    [setRequest('Accept-Encoding', '')],
    [{ request_headers: { add: Array(2).fill({ name: 'X-A', value: 'a b' }), remove: ['X-A'] } }],
    [setResponse('Set-Cookie')],
    [{ response_headers: { remove: ['Set-Cookie', 'Server', 'Location'] } }],
  ])('may be %j', (rewrite) => {
    expect(problemsOf(rewrite)).toEqual([]);
  });

  it.each<[object, string, RegExp]>([
    [{ strip_prefix: '/' }, 'strip_prefix', /must not be \//],
    [{ strip_prefix: '/a/' }, 'strip_prefix', /must not end with a slash/],
    [{ strip_prefix: '/a/../b' }, 'strip_prefix', /\.\./],
    [{ strip_prefix: '/{route.name}' }, 'strip_prefix', /must be a path/],
    [{ add_prefix: 'v2' }, 'add_prefix', /must be a path/],
    [{ add_prefix: '/v2/' }, 'add_prefix', /must not end with a slash/],
    [{ add_prefix: '/a/..' }, 'add_prefix', /read as \.\./],
    [{ path: '/a/%2e%2E/b' }, 'path', /read as \.\./],
    [{ path: '/a/..%2fb' }, 'path', /read as \.\./],
    [{ path: '/a/%252e%252e/b' }, 'path', /read as \.\./],
    [{ path: '/a/%c0%ae%c0%ae/b' }, 'path', /read as \.\./],
    [{ path: '/{path.rest}/..' }, 'path', /read as \.\./],
    [{ path: '/a/..;/b' }, 'path', /parameter/],
    [{ path: '/a/%00' }, 'path', /control character/],
    [{ path: '/a%0A' }, 'path', /control character/],
    [{ path: '/a%2' }, 'path', /two hexadecimal digits/],
    [{ path: '/a//b' }, 'path', /normal form/],
    [{ path: '//other.example/a' }, 'path', /normal form/],
    [{ path: '/a?b' }, 'path', /has no query/],
    [{ path: '/a#b' }, 'path', /must be a path/],
    [{ path: '/a\r\nX: 1' }, 'path', /must be a path/],
    [{ path: 'http://other.example/' }, 'path', /must be a path/],
    [{ path: '/{request.header.host}' }, 'path', /must not have \{request\.header\.host\}/],
    [{ path: '/a', add_prefix: '/b' }, 'path', /left out/],
    [{ path: '/a', strip_prefix: '/b' }, 'path', /left out/],
    [{ host: '' }, 'host', /upstream, preserve, or a host/],
    [{ host: 'a b' }, 'host', /or a host/],
    [{ host: 'user@host' }, 'host', /or a host/],
    [{ host: 'host/path' }, 'host', /or a host/],
    [{ host: 'host:65536' }, 'host', /or a host/],
    [{ host: 'host:0' }, 'host', /or a host/],
    [{ host: '{jwt.claims.host}' }, 'host', /or a host/],
    [{ query: { set: [{ name: '', value: '' }] } }, 'query.set.0.name', /1 to 128/],
    [{ query: { set: [{ name: '{a}', value: '' }] } }, 'query.set.0.name', /braces/],
    [{ query: { set: [{ name: 'a', value: 'b\n' }] } }, 'query.set.0.value', /control/],
    [{ query: { set: [{ name: 'a', value: '${x}' }] } }, 'query.set.0.value', /\{x\}/],
    [
      { query: { set: Array(2).fill({ name: 'a', value: '' }) } },
      'query.set.1.name',
      /there already/,
    ],
    [{ query: { remove: ['a', 'a'] } }, 'query.remove', /repeat/],
    [setRequest('X A'), 'request_headers.set.0.name', /name of a header field/],
    [setRequest('X-A', 'a\r\nX-B: 1'), 'request_headers.set.0.value', /visible ASCII/],
    [setRequest('X-A', 'a\tb'), 'request_headers.set.0.value', /visible ASCII/],
    [setRequest('X-A', 'é'), 'request_headers.set.0.value', /visible ASCII/],
    [setRequest('X-A', ' a'), 'request_headers.set.0.value', /visible ASCII/],
    [setRequest('X-A', '{{client.ip}}'), 'request_headers.set.0.value', /brace/],
    [
      {
        request_headers: {
          set: [
            { name: 'X-A', value: '' },
            { name: 'x_a', value: '' },
          ],
        },
      },
      'request_headers.set.1.name',
      /there already/,
    ],
  ])('may not be %j', (rewrite, path, message) => {
    expect(problemsOf(rewrite)).toEqual([[path, expect.stringMatching(message)]]);
  });

  it.each([
    ...['Authorization', 'Proxy-Authorization', 'Cookie', 'X-API-Key', 'Host', 'Content-Length'],
    ...['Transfer-Encoding', 'Connection', 'Keep-Alive', 'TE', 'Trailer', 'Upgrade', 'Expect'],
    ...[
      'X-RateLimit-Limit',
      'X-RateLimit-Any',
      'X-Gateway-Version',
      'X-Gateway-New',
      'X-Request-Id',
    ],
    ...['X-Forwarded-For', 'X-Forwarded-Anything', 'Forwarded', 'traceparent', 'tracestate'],
    ...['CDN-Loop', 'Via', 'Idempotency-Key', 'Max-Forwards', 'Sec-WebSocket-Key', 'Proxy'],
    ...['x_api_key', 'X_Forwarded_For', 'CONTENT_LENGTH', 'X--Request__Id'],
  ])('may not change the field %s of a request, in any list', (name) => {
    const pair = [{ name, value: '1' }];
    for (const [list, items] of [
      ['set', pair],
      ['add', pair],
      ['remove', [name]],
    ] as const) {
      const [problem, ...others] = problemsOf({ request_headers: { [list]: items } });
      expect(others).toEqual([]);
      expect(problem?.[1]).toContain(`must not be ${name}: `);
      expect(problem?.[1]).toContain('credential of its service');
    }
  });

  it.each([
    ...['Content-Length', 'Connection', 'X-Request-Id', 'X-RateLimit-Remaining', 'X-Gateway-Error'],
    ...['X-Upstream-Request-Id', 'Idempotent-Replayed', 'WWW-Authenticate', 'Proxy-Authenticate'],
    ...['Sec-WebSocket-Accept', 'Upgrade'],
  ])('may not change the field %s of a response', (name) => {
    expect(problemsOf(setResponse(name))).toHaveLength(1);
  });
});
