import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { expect, it } from '@jest/globals';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { listen } from '@gateway/shared/test/upstream';
import { WebSocket, WebSocketServer } from 'ws';
import { affinityOf } from '../../test/affinity.ts';
import { startTestDataPath, type TestDataPath } from '../../test/data-path.ts';

const opened = closeAfterEach();

/** Three upstreams that open a WebSocket with a cookie, and answer requests; both with their names. */
async function setUp(affinity: Parameters<typeof affinityOf>[0]) {
  const urls: string[] = [];
  const cookies: (string | undefined)[] = [];
  for (const name of ['a', 'b', 'c']) {
    const server = createServer((_request, response) => void response.end(name));
    const { url, close } = await listen(server);
    opened({ close });
    const sockets = opened(new WebSocketServer({ server }));
    sockets.on('headers', (headers, request: IncomingMessage) => {
      cookies.push(request.headers.cookie);
      headers.push(`Set-Cookie: sid=of-${name}`);
    });
    sockets.on('connection', (socket) => {
      socket.send(name);
    });
    urls.push(url);
  }
  const route = { affinity: affinityOf(affinity), upstreams: urls };
  return { gateway: opened(await startTestDataPath(route)), cookies };
}

/** Opens a WebSocket. Returns the name of its upstream, and the cookies that it sets. */
async function open(gateway: TestDataPath, cookie?: string) {
  const headers = {
    authorization: `Bearer ${gateway.token}`,
    ...(cookie !== undefined && { cookie }),
  };
  const url = `${gateway.url.replace('http', 'ws')}/v1/proxy/test`;
  const socket = new WebSocket(url, { headers });
  opened({ close: () => socket.terminate() });
  const message = once(socket, 'message') as Promise<[Buffer]>;
  const [response] = (await once(socket, 'upgrade')) as [IncomingMessage];
  const cookies = (response.headers['set-cookie'] ?? []).map((set) => set.split(';')[0] ?? '');
  return { name: (await message)[0].toString(), cookies };
}

const namesOf = async (gateway: TestDataPath, cookie: string) => {
  const names = new Set<string>();
  for (let count = 0; count < 4; count += 1) {
    names.add(await (await gateway.call('test', { headers: { cookie } })).text());
    names.add((await open(gateway, cookie)).name);
  }
  return names;
};

it('a WebSocket that begins a session, and those that go on with it, find its upstream', async () => {
  const { gateway, cookies } = await setUp({ by: 'upstream_cookie', cookie: 'sid' });
  const { name, cookies: set } = await open(gateway);
  const [cookie = ''] = set;
  expect(cookie).toMatch(/^sid=of-[abc]~gw[A-Za-z0-9_-]{38}$/);
  expect(await namesOf(gateway, cookie)).toEqual(new Set([name]));
  expect(cookies.slice(1)).toEqual(Array(4).fill(`sid=of-${name}`));
});

it('a WebSocket of a caller without the cookie of the gateway sets it', async () => {
  const { gateway, cookies } = await setUp({ by: 'gateway_cookie' });
  const { name, cookies: set } = await open(gateway);
  expect(set).toHaveLength(2);
  const cookie = set.find((one) => one !== `sid=of-${name}`) ?? '';
  expect(cookie).toMatch(/^gateway_affinity=/);
  expect(await namesOf(gateway, cookie)).toEqual(new Set([name]));
  expect(cookies).toEqual(Array(5).fill(undefined));
});
