import { eventually } from '@gateway/shared/test/eventually';
import { describe, expect, it } from '@jest/globals';
import { CHUNKED, GET, POST, respond, serveEachTest } from '../../test/http1-world.ts';
import type { ServerRequest } from './request.ts';
import type { ServerResponse } from './response.ts';

const world = serveEachTest();

describe('a body', () => {
  it('is available as a whole with the head if it is small', async () => {
    const bodies: (string | undefined)[] = [];
    world.onRequest = (request, response) => {
      bodies.push(request.takeWhole(10)?.toString());
      expect(request).toMatchObject({ complete: true, readableEnded: true });
      respond(response, 'ok');
    };
    const connection = await world.open();
    connection.send(`${POST}5\r\n\r\nhello${POST}0\r\n\r\n`);
    for (let index = 0; index < 2; index += 1) {
      expect(await (await connection.response()).text()).toBe('ok');
    }
    expect(bodies).toEqual(['hello', '']);
  });

  it('is emitted byte for byte if a handler listens instead', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_none, index) => index));
    const chunks: Buffer[] = [];
    world.onRequest = (request, response) => {
      expect(request.takeWhole(255)).toBeUndefined();
      request.on('data', (chunk) => chunks.push(chunk));
      request.once('end', () => respond(response, 'over'));
    };
    const connection = await world.open();
    connection.send(Buffer.concat([Buffer.from(`${POST}256\r\n\r\n`), bytes]));
    expect(await (await connection.response()).text()).toBe('over');
    expect(chunks).toEqual([bytes]);
  });

  it('is kept until a handler listens, and stops while it pauses', async () => {
    let request: ServerRequest | undefined;
    let received = '';
    world.onRequest = (one, response) => {
      request = one;
      one.once('end', () => respond(response, 'over'));
    };
    const connection = await world.open();
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

  it('is not read beyond a limit while no handler reads it', async () => {
    world.onRequest = () => undefined;
    const connection = await world.open();
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
    { how: 'read as a whole', take: (request: ServerRequest) => request.takeWhole(100_000) },
    { how: 'not read', take: () => undefined },
  ])('above the limit does not stop the reading of the connection: $how', async ({ take }) => {
    const requests: ServerRequest[] = [];
    const responses: ServerResponse[] = [];
    let gone = false;
    world.onRequest = (request, response) => {
      requests.push(request);
      responses.push(response);
      response.once('close', () => (gone = !response.writableFinished));
    };
    const connection = await world.open();
    connection.send(`${POST}100000\r\n\r\n`);
    await eventually(() => expect(requests).toHaveLength(1));
    connection.send(Buffer.alloc(100_000));
    await eventually(() => expect(requests[0]?.complete).toBe(true));
    const [request] = requests;
    if (request !== undefined) take(request);
    if (responses[0] !== undefined) respond(responses[0], 'first');
    expect(await (await connection.response()).text()).toBe('first');
    connection.send(GET);
    await eventually(() => expect(requests).toHaveLength(2));
    connection.destroy();
    await eventually(() => expect(gone).toBe(true));
  });

  it('above the limit does not hide that the caller leaves', async () => {
    let request: ServerRequest | undefined;
    let gone = false;
    world.onRequest = (one, response) => {
      request = one;
      response.once('close', () => (gone = true));
    };
    const connection = await world.open();
    connection.send(`${POST}100000\r\n\r\n`);
    await eventually(() => expect(request).toBeDefined());
    connection.send(Buffer.alloc(100_000));
    await eventually(() => expect(request?.complete).toBe(true));
    expect(request?.takeWhole(100_000)).toHaveLength(100_000);
    connection.destroy();
    await eventually(() => expect(gone).toBe(true));
  });

  it('is reported as malformed to the handler, and the connection ends after the response', async () => {
    const over: boolean[] = [];
    let begun = 0;
    world.onRequest = (request, response) => {
      begun += 1;
      request.on('data', () => undefined).once('close', () => respond(response, `${request.lost}`));
      response.once('close', () => over.push(response.writableFinished));
    };
    const connection = await world.open();
    connection.send(CHUNKED);
    await eventually(() => expect(begun).toBe(1));
    connection.send(`5\r\nhello\r\nzz\r\n${GET}`);
    const response = await connection.response();
    expect(await response.text()).toBe('malformed');
    expect(response.headers.get('connection')).toBe('close');
    await eventually(() => expect(connection.ended).toBe(true));
    expect({ over, begun }).toEqual({ over: [true], begun: 1 });
  });

  it('is reported as malformed also if it is from its first byte', async () => {
    world.onRequest = (request, response) => respond(response, `${request.lost}`);
    const connection = await world.open();
    connection.send(`${CHUNKED}zz\r\n`);
    expect(await (await connection.response()).text()).toBe('malformed');
    await eventually(() => expect(connection.ended).toBe(true));
  });

  it('gets no second response if its rest is malformed', async () => {
    world.onRequest = (_request, response) => respond(response, 'early');
    const connection = await world.open();
    connection.send(CHUNKED);
    expect(await (await connection.response()).text()).toBe('early');
    connection.send('zz\r\n');
    await eventually(() => expect(connection.ended).toBe(true));
    expect(connection.receivedText).toBe('');
  });

  it.each([
    [
      'with chunks',
      '1.1',
      /transfer-encoding: chunked\r\n.*\r\n\r\n2\r\nab\r\n2\r\ncd\r\n0\r\n\r\n$/is,
    ],
    ['until the connection closes', '1.0', /connection: close\r\n\r\nabcd$/is],
  ])('of a response without a length is sent %s in HTTP/%s', async (_case, version, expected) => {
    world.onRequest = (_request, response) => {
      response.writeHead(200, []);
      response.write('ab', 'latin1');
      response.write('cd', 'latin1');
      response.end();
    };
    const connection = await world.open();
    connection.send(`GET / HTTP/${version}\r\nHost: a\r\n\r\n`);
    await eventually(() => expect(connection.receivedText).toMatch(expected));
  });
});
