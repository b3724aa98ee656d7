import { describe, expect, it } from '@jest/globals';
import { startTestDataPath } from '../../test/data-path.ts';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawCall } from '@gateway/shared/test/raw-client';
import type { RawResponse } from '@gateway/shared/test/raw-response';
import { expectGatewayHeaders } from '@gateway/shared/test/refusal';
import { startRawUpstream } from '@gateway/shared/test/upstream';

const opened = closeAfterEach();

/** The response that the caller gets if the upstream sends these bytes. */
async function receive(head: readonly string[], body = 'ok'): Promise<RawResponse> {
  const upstream = opened(
    await startRawUpstream((socket) => {
      const lines = [...head, `Content-Length: ${body.length}`, '', body];
      socket.once('data', () => socket.write(lines.join('\r\n'), 'latin1'));
    }),
  );
  const gateway = opened(await startTestDataPath({ upstreams: [upstream.url] }));
  return rawCall(gateway.port, {}, gateway.token);
}

/** Every value of a name, unchanged. */
function values(response: RawResponse, name: string): string[] {
  return response.rawHeaders.filter(
    (_text, index) => index % 2 === 1 && response.rawHeaders[index - 1]?.toLowerCase() === name,
  );
}

// test/conformance has the fields of the connection, and those that only the gateway sets.
describe('response headers', () => {
  it('are returned unchanged: case, order, repeats and bytes beyond ASCII', async () => {
    const response = await receive([
      'HTTP/1.1 200 OK',
      ...['Set-Cookie: a=1; Path=/', 'X-CaSe: a  b', 'Set-Cookie: b=2', 'X-Latin: \xe9\xff\x80'],
      ...['x-twice: 1', 'X-Twice: 2', 'Date: Thu, 01 Jan 1970 00:00:00 GMT', 'Server: test'],
    ]);
    expect(values(response, 'set-cookie')).toEqual(['a=1; Path=/', 'b=2']);
    expect(response.rawHeaders.slice(0, 16)).toEqual([
      ...['Set-Cookie', 'a=1; Path=/', 'X-CaSe', 'a  b', 'Set-Cookie', 'b=2'],
      ...['X-Latin', '\xe9\xff\x80', 'x-twice', '1', 'X-Twice', '2'],
      ...['Date', 'Thu, 01 Jan 1970 00:00:00 GMT', 'Server', 'test'],
    ]);
    expect(values(response, 'date')).toHaveLength(1);
  });

  it('keep the status, its text, and every byte of the body', async () => {
    const bytes = Array.from({ length: 256 }, (_none, code) => String.fromCharCode(code)).join('');
    const response = await receive(['HTTP/1.1 299 Tr\xe8s bien', 'X-Latin: \xe9'], bytes);
    expect(response).toMatchObject({ status: 299, statusText: 'Tr\xe8s bien', complete: true });
    expect(response.body.toString('latin1')).toBe(bytes);
  });

  it.each([400, 401, 429, 500])(
    'do not mark %i of the upstream as an error of the gateway',
    async (status) => {
      const response = await receive([`HTTP/1.1 ${status} Status`, 'WWW-Authenticate: Basic']);
      expect(response.status).toBe(status);
      expect(response.headers.has('x-gateway-error')).toBe(false);
      expect(response.headers.get('www-authenticate')).toBe('Basic');
      expectGatewayHeaders(response.headers);
    },
  );

  it('have those names of the upstream as X-Upstream-*, each value as it came', async () => {
    const response = await receive([
      'HTTP/1.1 200 OK',
      ...['X-Request-Id: theirs', 'x-ratelimit-limit: 60', 'X-RateLimit-Remaining: 59'],
      ...[
        'X-RateLimit-Reset: 1372700873',
        'X-RateLimit-Resource: core',
        'X-RateLimit-Policy: kept',
      ],
    ]);
    expectGatewayHeaders(response.headers);
    const upstream = Object.fromEntries(
      [...response.headers].filter(([name]) => name.startsWith('x-upstream-')),
    );
    expect(upstream).toEqual({
      'x-upstream-request-id': 'theirs',
      'x-upstream-ratelimit-limit': '60',
      'x-upstream-ratelimit-remaining': '59',
      'x-upstream-ratelimit-reset': '1372700873',
    });
    expect(values(response, 'x-ratelimit-resource')).toEqual(['core']);
    expect(values(response, 'x-ratelimit-policy')).toEqual(['kept']);
    expect(values(response, 'x-ratelimit-limit')).toEqual(['1000']);
  });

  it('speak of the upstream if it is a gateway itself, and pass its X-Upstream-* on if it sends nothing nearer', async () => {
    const farther = ['X-Upstream-Request-Id: far', 'X-Upstream-RateLimit-Limit: 1'];
    const near = await receive(['HTTP/1.1 200 OK', ...farther, 'X-Request-Id: near']);
    expect(values(near, 'x-upstream-request-id')).toEqual(['near']);
    expect(values(near, 'x-upstream-ratelimit-limit')).toEqual(['1']);
    const far = await receive(['HTTP/1.1 200 OK', ...farther]);
    expect(values(far, 'x-upstream-request-id')).toEqual(['far']);
  });
});
