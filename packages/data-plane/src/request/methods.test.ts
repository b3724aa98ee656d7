import { describe, expect, it } from '@jest/globals';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { startTestDataPath } from '../../test/data-path.ts';
import { http2Call } from '../../test/http2-call.ts';
import { startSecureDataPath } from '../../test/secure-data-path.ts';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawCall } from '@gateway/shared/test/raw-client';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { startRawUpstream, startUpstream } from '@gateway/shared/test/upstream';

const opened = closeAfterEach();
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const ALLOW = METHODS.join(', ');

async function setUp(
  answer?: Parameters<typeof startUpstream>[0],
  route: Partial<SnapshotRoute> = {},
) {
  const upstream = opened(await startUpstream(answer));
  const gateway = opened(await startTestDataPath({ upstreams: [upstream.url], ...route }));
  return { upstream, gateway };
}

// test/conformance has the methods that every route accepts, and those that none does.
describe('methods', () => {
  it('names no route in the record of a CONNECT to a host', async () => {
    const { gateway } = await setUp();
    const target = 'somewhere.test:443';
    const response = await rawCall(gateway.port, { method: 'CONNECT', target }, gateway.token);
    expect(await gateway.recordOf(response)).toMatchObject({
      method: 'CONNECT',
      status: 405,
      route: null,
    });
  });

  it('records no bytes of the body that a HEAD does not get', async () => {
    const { gateway } = await setUp();
    const refused = await rawCall(gateway.port, { method: 'HEAD' });
    expect(await gateway.recordOf(refused)).toMatchObject({ status: 401, response_bytes: 0 });
  });

  it('refuses methods that the route does not accept and lists those that it accepts', async () => {
    const { gateway, upstream } = await setUp(undefined, { methods: ['GET', 'POST'] });
    expect((await gateway.call('test', { method: 'POST' })).status).toBe(200);
    const refused = await gateway.call('test', { method: 'DELETE' });
    await expectRefusal(refused, 405, 'method_not_allowed');
    expect(refused.headers.get('allow')).toBe('GET, POST');
    expect(upstream.seen).toHaveLength(1);
  });

  it.each(['PROPFIND', 'QUERY', 'M-SEARCH', 'x!y', 'patch'])(
    'forwards %s if the route lists it, with its body, over HTTP/1.1 and HTTP/2',
    async (method) => {
      const seen: string[] = [];
      const upstream = opened(
        await startRawUpstream((socket) => {
          socket.on('data', (bytes) => {
            seen.push(String(bytes));
            if (String(bytes).endsWith('hello'))
              socket.write('HTTP/1.1 207 M\r\nContent-Length: 2\r\n\r\nok');
          });
        }),
      );
      const route = { upstreams: [upstream.url], methods: ['GET', method] };
      const gateway = opened(await startTestDataPath(route));
      const lines = [
        'Host: gateway.test',
        `Authorization: Bearer ${gateway.token}`,
        'Content-Length: 5',
      ];
      const response = await rawCall(gateway.port, { method, lines, body: 'hello' });
      expect([response.status, await response.text()]).toEqual([207, 'ok']);
      expect(await gateway.recordOf(response)).toMatchObject({ method, status: 207 });
      const secure = opened(await startSecureDataPath(route));
      const session = secure.connectHttp2();
      const fields = {
        ':method': method,
        authorization: `Bearer ${secure.token}`,
        'content-length': '5',
      };
      expect(await http2Call(session, fields, 'hello')).toMatchObject({ status: 207, body: 'ok' });
      const other = await http2Call(session, { ...fields, ':method': 'POST' }, 'hello');
      expect([other.status, other.headers.allow]).toEqual([405, `GET, ${method}`]);
      session.destroy();
      expect(seen.filter((text) => text.startsWith(`${method} /`))).toHaveLength(2);
    },
  );

  it('lists the methods of a route only to a caller that has access to it', async () => {
    const { gateway } = await setUp(undefined, { methods: ['PROPFIND'] });
    const response = await rawCall(gateway.port, { method: 'FROB' });
    await expectRefusal(response, 401, 'authentication_failed');
    expect(response.headers.get('allow')).toBeNull();
  });

  it.each(['TRACE', 'CONNECT', 'trace', 'PRI', '*'])(
    'never forwards %s, even if a route lists it',
    async (method) => {
      const { gateway, upstream } = await setUp(undefined, { methods: ['GET', method] });
      const response = await rawCall(gateway.port, { method }, gateway.token);
      await expectRefusal(response, 405, 'method_not_allowed');
      expect(response.headers.get('allow')).toBe(ALLOW);
      expect(upstream.seen).toHaveLength(0);
    },
  );
});
