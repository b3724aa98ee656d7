import { createServer, type IncomingMessage } from 'node:http';
import {
  connect,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
} from 'node:http2';
import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { listen, startUpstream } from '@gateway/shared/test/upstream';
import { WebSocketServer } from 'ws';
import { http2Answer, http2Call } from '../../test/http2-call.ts';
import { startSecureDataPath, type SecureDataPath } from '../../test/secure-data-path.ts';

const opened = closeAfterEach();

/** An upstream that echoes WebSocket messages. */
async function setUp() {
  const server = createServer((_request, response) => response.end('plain'));
  const upstream = opened(await listen(server));
  const sockets = opened(new WebSocketServer({ server, handleProtocols: () => 'chat' }));
  const requests: IncomingMessage[] = [];
  sockets.on('connection', (socket, request) => {
    requests.push(request);
    socket.on('message', (data, isBinary) => {
      socket.send(data, { binary: isBinary });
    });
    socket.on('error', () => undefined);
  });
  const gateway = opened(await startSecureDataPath({ upstreams: [upstream.url] }));
  return { gateway, sockets, requests };
}

async function connectTo(gateway: SecureDataPath): Promise<ClientHttp2Session> {
  const session = connect(gateway.url, { ca: gateway.authority.certPem });
  session.on('error', () => undefined);
  opened({
    destroy: () => {
      session.destroy();
    },
  });
  if (session.remoteSettings.enableConnectProtocol !== true) await once(session, 'remoteSettings');
  expect(session.remoteSettings.enableConnectProtocol).toBe(true);
  return session;
}

function dial(
  gateway: SecureDataPath,
  session: ClientHttp2Session,
  fields: Readonly<Record<string, string>> = {},
): ClientHttp2Stream {
  const stream = session.request(
    {
      ':method': 'CONNECT',
      ':protocol': 'websocket',
      ':path': '/v1/proxy/test/chat',
      authorization: `Bearer ${gateway.token}`,
      'sec-websocket-version': '13',
      'sec-websocket-protocol': 'chat',
      ...fields,
    },
    { endStream: false },
  );
  stream.on('error', () => undefined);
  return stream;
}

/** A masked frame of a client (RFC 6455 section 5.2), with a mask of zeros. */
function clientFrame(opcode: number, text: string): Buffer {
  const length = Buffer.byteLength(text);
  return Buffer.concat([
    Buffer.from([0x80 | opcode, 0x80 | length, 0, 0, 0, 0]),
    Buffer.from(text),
  ]);
}

describe('a WebSocket over HTTP/2 (RFC 8441)', () => {
  it.each<[string, Readonly<Record<string, string>>]>([
    ['without a key, which is made for the upstream', {}],
    ['with a key', { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' }],
  ])('carries messages %s', async (_what, fields) => {
    const { gateway, requests } = await setUp();
    const session = await connectTo(gateway);
    const stream = dial(gateway, session, fields);
    const [head] = (await once(stream, 'response')) as [IncomingHttpHeaders];
    expect(head).toMatchObject({ ':status': 200, 'sec-websocket-protocol': 'chat' });
    expect(head).not.toHaveProperty('sec-websocket-accept');
    const key = fields['sec-websocket-key'] ?? expect.stringMatching(/^[A-Za-z0-9+/]{22}==$/);
    expect(requests[0]).toMatchObject({ method: 'GET', headers: { 'sec-websocket-key': key } });
    let received = '';
    stream.on('data', (bytes: Buffer) => (received += bytes.toString('latin1')));
    stream.write(clientFrame(1, 'hello'));
    await eventually(() => expect(received).toBe('\x81\x05hello'));
    // Another request on the same connection is served meanwhile.
    const other = await http2Call(session, { authorization: `Bearer ${gateway.token}` });
    expect(other).toMatchObject({ status: 200, body: 'plain' });
    stream.write(clientFrame(8, '\x03\xe8'));
    await eventually(() => expect(received).toMatch(/\x88/));
    stream.end();
    if (!stream.closed) await once(stream, 'close');
    await eventually(() => expect(gateway.records).toHaveLength(2));
    const record = gateway.records.find(({ status }) => status === 101);
    expect(record).toMatchObject({ method: 'GET', outcome: 'success', error_code: null });
    expect(await gateway.inFlight()).toBe(0);
  });

  it('ends when the upstream ends it, and the connection stays', async () => {
    const { gateway, sockets } = await setUp();
    const session = await connectTo(gateway);
    const stream = dial(gateway, session);
    await once(stream.resume(), 'response');
    for (const socket of sockets.clients) socket.terminate();
    if (!stream.closed) await once(stream, 'close');
    expect(session.closed).toBe(false);
    await eventually(() => expect(gateway.records).toMatchObject([{ status: 101 }]));
  });

  it('is refused by a status: without a token, on another path, and for another protocol', async () => {
    const { gateway } = await setUp();
    const session = await connectTo(gateway);
    const refusals = [
      dial(gateway, session, { authorization: 'Bearer none' }),
      dial(gateway, session, { ':path': '/v1/services' }),
      dial(gateway, session, { ':protocol': 'connect-udp' }),
    ];
    const answers = await Promise.all(refusals.map((stream) => http2Answer(stream)));
    for (const { status, headers } of answers) {
      expect(status).toBeGreaterThanOrEqual(400);
      expect(headers).toHaveProperty('x-gateway-error');
    }
    expect(answers[0]?.status).toBe(401);
    expect(session.closed).toBe(false);
  });

  it('to an upstream that answers 200 is refused, because a 2xx would open the tunnel', async () => {
    const upstream = opened(await startUpstream((_seen, response) => response.end('plain')));
    const gateway = opened(await startSecureDataPath({ upstreams: [upstream.url] }));
    const session = await connectTo(gateway);
    const answer = await http2Answer(dial(gateway, session));
    expect(answer.status).toBe(502);
    expect(answer.headers['x-gateway-error']).toBe('upstream_unavailable');
    expect(JSON.parse(answer.body)).toMatchObject({
      error: { message: expect.stringContaining('answered 200 to the WebSocket handshake') },
    });
  });
});
