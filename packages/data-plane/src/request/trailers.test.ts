import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { rawConnection } from '@gateway/shared/test/raw-client';
import type { RawResponse } from '@gateway/shared/test/raw-response';
import { get, post, request } from '../../test/conformance/case.ts';
import { startRig, type ConformanceRig } from '../../test/conformance/rig.ts';
import { withToken } from '../../test/conformance/run-case.ts';

const CHUNKED = 'Transfer-Encoding: chunked';
const OK = `HTTP/1.1 200 OK\r\n${CHUNKED}\r\n\r\n`;
const TE = ['TE: trailers', 'Connection: TE'];

let rig: ConformanceRig;

beforeAll(async () => void (rig = await startRig()));
afterAll(() => rig.close());
beforeEach(() => {
  rig.upstream.requests.length = 0;
  rig.upstream.script = undefined;
});

/** Sends a request and returns its response. */
async function send(text: string, method = 'GET'): Promise<RawResponse> {
  const connection = await rawConnection(rig.port);
  try {
    connection.send(withToken(text, rig.token));
    return await connection.response(method);
  } finally {
    connection.destroy();
  }
}

function answerWith(bytes: string): void {
  rig.upstream.script = { bytes };
}

describe('the trailers of a response', () => {
  it.each([
    ['TE: trailers', TE],
    ['TE: trailers alone', ['TE: trailers']],
    ['TE with others, which Connection names', ['TE: gzip;q=0.5, Trailers', 'connection: te']],
    ['TE on two lines', ['TE: gzip', 'TE: trailers', 'Connection: close, TE']],
  ])(
    'reach a caller that sends %s, which the upstream gets as TE: trailers',
    async (_what, lines) => {
      answerWith(`${OK}5\r\nhello\r\n0\r\nX-Sum: 7\r\ngrpc-status: 0\r\n\r\n`);
      const response = await send(get(lines));
      expect(response).toMatchObject({ status: 200, trailers: ['X-Sum: 7', 'grpc-status: 0'] });
      expect(await response.text()).toBe('hello');
      const sent = rig.upstream.requests[0]?.lines.map(([name, value]) => `${name}: ${value}`);
      expect(sent).toEqual(expect.arrayContaining(['connection: TE', 'te: trailers']));
    },
  );

  it.each([
    ['no TE', []],
    ['another TE', ['TE: gzip', 'Connection: TE']],
    ['trailers beside others, which Connection does not name', ['TE: gzip, trailers']],
    ['trailers with a weight', ['TE: trailers;q=0', 'Connection: TE']],
  ])('are left out for a caller that sends %s', async (_what, lines) => {
    answerWith(`${OK}5\r\nhello\r\n0\r\nX-Sum: 7\r\n\r\n`);
    const response = await send(get(lines));
    expect(response).toMatchObject({ status: 200, complete: true, trailers: [] });
    expect(await response.text()).toBe('hello');
    const names = rig.upstream.requests[0]?.lines.map(([name]) => name.toLowerCase());
    expect(names).not.toContain('te');
    expect(names).not.toContain('connection');
  });

  it('are left out for a caller of HTTP/1.0', async () => {
    answerWith(`${OK}5\r\nhello\r\n0\r\nX-Sum: 7\r\n\r\n`);
    const response = await send(get(TE).replace('HTTP/1.1', 'HTTP/1.0'));
    expect(response).toMatchObject({ status: 200, complete: true, trailers: [] });
    expect(await response.text()).toBe('hello');
  });

  it('are announced by the names that pass', async () => {
    answerWith(
      `HTTP/1.1 200 OK\r\n${CHUNKED}\r\nTrailer: X-Sum, Set-Cookie\r\nTrailer: X-Named, X-Last\r\n` +
        'Connection: x-named\r\n\r\n0\r\nX-Sum: 7\r\nSet-Cookie: a=b\r\nX-Named: 1\r\nX-Last: 2\r\n\r\n',
    );
    const response = await send(get(TE));
    expect(response.headers.get('trailer')).toBe('X-Sum, X-Last');
    expect(response.trailers).toEqual(['X-Sum: 7', 'X-Last: 2']);
    expect((await send(get())).headers.has('trailer')).toBe(false);
    expect((await send(request('HEAD', TE), 'HEAD')).headers.has('trailer')).toBe(false);
  });

  it.each([
    ['too large', `X-Sum: ${'7'.repeat(70_000)}\r\n\r\n`],
    ['too many', `${'X: 7\r\n'.repeat(1001)}\r\n`],
    ['malformed', 'X Sum: 7\r\n\r\n'],
  ])(
    'break the response off if they are %s, which is the fault of the upstream',
    async (_what, lines) => {
      answerWith(`${OK}5\r\nhello\r\n0\r\n${lines}`);
      rig.gateway.records.length = 0;
      const connection = await rawConnection(rig.port);
      connection.send(withToken(get(TE), rig.token));
      await eventually(() => expect(connection.ended).toBe(true));
      expect(connection.receivedText).not.toContain('\r\n0\r\n');
      await eventually(() => {
        expect(rig.gateway.records).toMatchObject([{ outcome: 'upstream_error', status: 200 }]);
      });
    },
  );
});

describe('the trailers of a request', () => {
  it('reach the upstream by the names that pass, and so does their announcement', async () => {
    const trailers = 'X-Sum: 7\r\nAuthorization: Bearer x\r\nX_Request_Id: y\r\nX-Named: 1\r\n';
    const lines = [CHUNKED, 'Trailer: X-Sum, Authorization, X-Named', 'Connection: X-Named'];
    await send(post(lines, `5\r\nhello\r\n0\r\n${trailers}\r\n`));
    const [seen] = rig.upstream.requests;
    expect(seen).toMatchObject({ body: 'hello', trailers: ['X-Sum: 7'] });
    expect(seen?.lines).toContainEqual(['trailer', 'X-Sum']);
  });

  it('reach the upstream without a byte of a body', async () => {
    await send(post([CHUNKED], '0\r\nX-Sum: 7\r\n\r\n'));
    expect(rig.upstream.requests[0]).toMatchObject({ body: '', trailers: ['X-Sum: 7'] });
  });

  it('leave nothing behind if none passes', async () => {
    const lines = [CHUNKED, 'Trailer: Cookie, X-Forwarded-For'];
    await send(post(lines, '5\r\nhello\r\n0\r\nCookie: a=b\r\nX-Forwarded-For: 1\r\n\r\n'));
    const [seen] = rig.upstream.requests;
    expect(seen).toMatchObject({ body: 'hello', trailers: [] });
    expect(seen?.lines.map(([name]) => name)).not.toContain('trailer');
  });

  it.each([
    ['too large', `X-Sum: ${'7'.repeat(17_000)}\r\n\r\n`],
    ['too many', `${'X: 7\r\n'.repeat(1001)}\r\n`],
  ])('are refused if they are %s', async (_what, lines) => {
    const response = await send(post([CHUNKED], `5\r\nhello\r\n0\r\n${lines}`));
    expect(response.status).toBe(400);
    expect(response.headers.get('x-gateway-error')).toBe('invalid_request');
    expect(rig.upstream.requests).toEqual([]);
  });
});
