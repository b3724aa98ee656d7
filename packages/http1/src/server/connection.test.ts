import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { systemClock } from '@gateway/shared/clock';
import { eventually } from '@gateway/shared/test/eventually';
import type { ServerRequest } from './request.ts';
import type { ServerResponse } from './response.ts';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawConnection } from '@gateway/shared/test/raw-client';
import { createHttp1Server, type Http1Server } from './server.ts';

const opened = closeAfterEach();
const POST = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ';
const CHUNKED = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

let server: Server;
let http1: Http1Server;
let onRequest: (request: ServerRequest, response: ServerResponse) => void;

beforeEach(async () => {
  http1 = createHttp1Server({
    clock: systemClock,
    maxHeaderBytes: 1000,
    maxHeaderLines: 100,
    lingerTimeoutMs: 300,
    onRequest: (request, response) => {
      onRequest(request, response);
    },
    takesOver: () => false,
    onTakeOver: () => undefined,
    refused: () => undefined,
    refusal: () => ({ status: 400, fields: ['Content-Length', '0'], body: '' }),
  });
  server = createServer((socket) => void http1.accept(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterEach(() => {
  http1.destroy();
  server.close();
});

const open = async () => opened(await rawConnection((server.address() as AddressInfo).port));

function answer(response: ServerResponse, text: string, fields: string[] = []): void {
  response.writeHead(200, ['Content-Length', String(text.length), ...fields]);
  response.end(text);
}

describe('a connection of HTTP/1.1', () => {
  it('has the whole of a small body at hand with its head', async () => {
    const bodies: (string | undefined)[] = [];
    onRequest = (request, response) => {
      bodies.push(request.takeWhole(10)?.toString());
      expect(request).toMatchObject({ complete: true, readableEnded: true });
      answer(response, 'ok');
    };
    const connection = await open();
    connection.send(`${POST}5\r\n\r\nhello${POST}0\r\n\r\n`);
    for (let index = 0; index < 2; index += 1) {
      expect(await (await connection.response()).text()).toBe('ok');
    }
    expect(bodies).toEqual(['hello', '']);
  });

  it('passes the whole of such a body on byte for byte to whoever listens instead', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_none, index) => index));
    const chunks: Buffer[] = [];
    onRequest = (request, response) => {
      expect(request.takeWhole(255)).toBeUndefined();
      request.on('data', (chunk) => chunks.push(chunk));
      request.once('end', () => answer(response, 'over'));
    };
    const connection = await open();
    connection.send(Buffer.concat([Buffer.from(`${POST}256\r\n\r\n`), bytes]));
    expect(await (await connection.response()).text()).toBe('over');
    expect(chunks).toEqual([bytes]);
  });

  it('keeps what comes of a body until somebody listens, and stops where they pause', async () => {
    let request: ServerRequest | undefined;
    let received = '';
    onRequest = (one, response) => {
      request = one;
      one.once('end', () => answer(response, 'over'));
    };
    const connection = await open();
    connection.send(`${POST}8\r\n\r\nabc`);
    await eventually(() => expect(request).toBeDefined());
    expect(request?.takeWhole(10)).toBeUndefined();
    request?.on('data', (chunk) => {
      if (received === '') request?.pause();
      received += chunk.toString();
    });
    await eventually(() => expect(received).toBe('abc'));
    connection.send('defgh');
    await eventually(() => expect(request?.complete).toBe(true));
    expect(received).toBe('abc');
    request?.resume();
    expect(await (await connection.response()).text()).toBe('over');
    expect(received).toBe('abcdefgh');
  });

  it('reads no more of a body than a bound while nobody takes it', async () => {
    onRequest = () => undefined;
    const connection = await open();
    connection.send(`${POST}100000000\r\n\r\n`);
    const piece = Buffer.alloc(1024 * 1024);
    for (let pieces = 0; pieces < 32; pieces += 1) connection.socket.write(piece);
    await eventually(() => expect(connection.socket.writableLength).toBeGreaterThan(0));
    let before = -1;
    await eventually(() => {
      const left = connection.socket.writableLength;
      const settled = left === before;
      before = left;
      expect(settled).toBe(true);
    });
    expect(before).toBeGreaterThan(16 * 1024 * 1024);
  });

  it.each([
    { how: 'taken whole', take: (request: ServerRequest) => request.takeWhole(100_000) },
    { how: 'not taken', take: () => undefined },
  ])('is read on after a body past that bound which is $how', async ({ take }) => {
    const requests: ServerRequest[] = [];
    const responses: ServerResponse[] = [];
    let gone = false;
    onRequest = (request, response) => {
      requests.push(request);
      responses.push(response);
      response.once('close', () => (gone = !response.writableFinished));
    };
    const connection = await open();
    connection.send(`${POST}100000\r\n\r\n`);
    await eventually(() => expect(requests).toHaveLength(1));
    connection.send(Buffer.alloc(100_000));
    await eventually(() => expect(requests[0]?.complete).toBe(true));
    const [request] = requests;
    if (request !== undefined) take(request);
    if (responses[0] !== undefined) answer(responses[0], 'first');
    expect(await (await connection.response()).text()).toBe('first');
    connection.send(GET);
    await eventually(() => expect(requests).toHaveLength(2));
    connection.destroy();
    await eventually(() => expect(gone).toBe(true));
  });

  it('notices that its caller leaves also once a body past that bound was taken', async () => {
    let request: ServerRequest | undefined;
    let gone = false;
    onRequest = (one, response) => {
      request = one;
      response.once('close', () => (gone = true));
    };
    const connection = await open();
    connection.send(`${POST}100000\r\n\r\n`);
    await eventually(() => expect(request).toBeDefined());
    connection.send(Buffer.alloc(100_000));
    await eventually(() => expect(request?.complete).toBe(true));
    expect(request?.takeWhole(100_000)).toHaveLength(100_000);
    connection.destroy();
    await eventually(() => expect(gone).toBe(true));
  });

  it('answers what is no HTTP after the response to what was', async () => {
    let held: ServerResponse | undefined;
    onRequest = (_request, response) => (held = response);
    const connection = await open();
    connection.send(`${GET}noise\r\n\r\n`);
    await eventually(() => expect(held).toBeDefined());
    if (held !== undefined) answer(held, 'mine');
    expect(await (await connection.response()).text()).toBe('mine');
    expect((await connection.response()).status).toBe(400);
    await eventually(() => expect(connection.ended).toBe(true));
  });

  it('tells whoever works on a request that its body is none, and ends behind the answer', async () => {
    const over: boolean[] = [];
    let begun = 0;
    onRequest = (request, response) => {
      begun += 1;
      request.on('data', () => undefined).once('close', () => answer(response, `${request.lost}`));
      response.once('close', () => over.push(response.writableFinished));
    };
    const connection = await open();
    connection.send(CHUNKED);
    await eventually(() => expect(begun).toBe(1));
    connection.send(`5\r\nhello\r\nzz\r\n${GET}`);
    const response = await connection.response();
    expect(await response.text()).toBe('malformed');
    expect(response.headers.get('connection')).toBe('close');
    await eventually(() => expect(connection.ended).toBe(true));
    expect({ over, begun }).toEqual({ over: [true], begun: 1 });
  });

  it('hands a request on whose body is none from the beginning, as one that is lost', async () => {
    onRequest = (request, response) => answer(response, `${request.lost}`);
    const connection = await open();
    connection.send(`${CHUNKED}zz\r\n`);
    expect(await (await connection.response()).text()).toBe('malformed');
    await eventually(() => expect(connection.ended).toBe(true));
  });

  it('answers once where what is left of the body of an answered request is none', async () => {
    onRequest = (_request, response) => answer(response, 'early');
    const connection = await open();
    connection.send(CHUNKED);
    expect(await (await connection.response()).text()).toBe('early');
    connection.send('zz\r\n');
    await eventually(() => expect(connection.ended).toBe(true));
    expect(connection.receivedText).toBe('');
  });

  it('lets a caller read its last response though it sends on, and ends in bounded time', async () => {
    onRequest = (_request, response) => answer(response, 'no', ['Connection', 'close']);
    const connection = await open();
    connection.send(`${POST}100000000\r\n\r\n`);
    const pour = setInterval(() => connection.socket.write(Buffer.alloc(100_000)), 5);
    try {
      const response = await connection.response();
      expect(await response.text()).toBe('no');
      await eventually(() => expect(connection.socket.closed).toBe(true));
    } finally {
      clearInterval(pour);
    }
  });

  it('answers a flood of requests in order and lets others have their turn', async () => {
    let mostAtOnce = 0;
    let inTurn = 0;
    onRequest = (_request, response) => {
      inTurn += 1;
      mostAtOnce = Math.max(mostAtOnce, inTurn);
      setImmediate(() => (inTurn = 0));
      answer(response, 'ok');
    };
    const connection = await open();
    connection.send(GET.repeat(500));
    for (let index = 0; index < 500; index += 1) {
      expect(await (await connection.response()).text()).toBe('ok');
    }
    expect(mostAtOnce).toBeLessThan(64);
  });

  it.each([
    [
      'with chunks',
      '1.1',
      /transfer-encoding: chunked\r\n.*\r\n\r\n2\r\nab\r\n2\r\ncd\r\n0\r\n\r\n$/is,
    ],
    ['until its end', '1.0', /connection: close\r\n\r\nabcd$/is],
  ])('frames a body of no announced length %s in HTTP/%s', async (_case, version, expected) => {
    onRequest = (_request, response) => {
      response.writeHead(200, []);
      response.write('ab', 'latin1');
      response.write('cd', 'latin1');
      response.end();
    };
    const connection = await open();
    connection.send(`GET / HTTP/${version}\r\nHost: a\r\n\r\n`);
    await eventually(() => expect(connection.receivedText).toMatch(expected));
  });

  it('never writes a field that would be two', async () => {
    let refused: unknown;
    onRequest = (_request, response) => {
      try {
        response.writeHead(200, ['X-A', 'a\r\nX-B: b']);
      } catch (error) {
        refused = error;
        answer(response, 'ok');
      }
    };
    const connection = await open();
    connection.send(GET);
    expect((await connection.response()).headers.get('x-b')).toBeNull();
    expect(refused).toBeInstanceOf(Error);
  });
});
