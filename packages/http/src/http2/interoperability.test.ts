import { connect, type ClientHttp2Session, type IncomingHttpHeaders } from 'node:http2';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import fc from 'fast-check';
import { get } from '../../test/http2-frames.ts';
import { serveHttp2EachTest } from '../../test/http2-world.ts';
import type { Stream } from './stream.ts';

const world = serveHttp2EachTest({
  limits: { maxHeaderBytes: 64 * 1024, maxFields: 1000, maxConcurrentStreams: 100 },
});

let session: ClientHttp2Session;

beforeEach(() => {
  session = connect(`http://127.0.0.1:${world.port}`);
  session.on('error', () => undefined);
});

afterEach(() => {
  session.destroy();
});

interface Answer {
  readonly headers: IncomingHttpHeaders & { readonly ':status'?: number };
  readonly trailers: IncomingHttpHeaders;
  readonly interim: number[];
  readonly body: Buffer;
  readonly code: number | undefined;
}

async function call(
  fields: Record<string, string | string[]>,
  body: readonly Buffer[] = [],
): Promise<Answer> {
  const stream = session.request(fields, { endStream: body.length === 0 });
  const parts: Buffer[] = [];
  const interim: number[] = [];
  let headers: IncomingHttpHeaders = {};
  let trailers: IncomingHttpHeaders = {};
  stream.on('response', (found: IncomingHttpHeaders) => (headers = found));
  stream.on('trailers', (found: IncomingHttpHeaders) => (trailers = found));
  stream.on('headers', (found) => void interim.push(Number(found[':status'])));
  stream.on('data', (bytes: Buffer) => void parts.push(bytes));
  for (const part of body) stream.write(part);
  if (body.length > 0) stream.end();
  await once(stream, 'close');
  return { headers, trailers, interim, body: Buffer.concat(parts), code: stream.rstCode };
}

describe('a client of node:http2', () => {
  it('gets its fields back, whatever their values: the Huffman code of every byte', async () => {
    world.onExchange = (exchange) => {
      const { fields } = exchange.head;
      exchange.respond(200, '', ['x-back', fields[fields.indexOf('x-value') + 1] ?? ''], true);
    };
    const text = fc.stringMatching(
      /^[\x21-\x7e\x80-\xff](?:[\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?$/,
    );
    const every = Array.from({ length: 256 }, (_none, code) => code)
      .filter((code) => code > 0x20 && code !== 0x7f)
      .map((code) => String.fromCharCode(code))
      .join('');
    const property = fc.asyncProperty(text, async (value) => {
      const { headers } = await call({ ':path': '/', 'x-value': value });
      expect(headers['x-back']).toBe(value);
    });
    await fc.assert(property, { numRuns: 200, examples: [[every]] });
  });

  it('uploads and downloads bodies of any size, many at once', async () => {
    const sizes = [0, 1, 100, 16_384, 16_385, 65_535, 65_536, 300_000, 3_000_000];
    const bodies = sizes.map((size, index) => Buffer.alloc(size, 97 + index));
    const answers = await Promise.all(
      bodies.map((body) => call({ ':method': 'POST', ':path': '/' }, [body])),
    );
    for (const [index, { body, code, headers }] of answers.entries()) {
      const expected = bodies[index]?.length === 0 ? Buffer.from('hello') : bodies[index];
      expect(body.equals(expected ?? Buffer.alloc(0))).toBe(true);
      expect([code, headers[':status']]).toEqual([0, 200]);
    }
    expect(world.seen.map(({ end }) => end)).toEqual(sizes.map(() => 'complete'));
  });

  it('sends any body in any parts, and gets it back', async () => {
    const part = fc.oneof(fc.nat(20), fc.nat(20_000)).map((size) => Buffer.alloc(size, size % 251));
    await fc.assert(
      fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 10 }), async (parts) => {
        const { body } = await call({ ':method': 'POST', ':path': '/' }, parts);
        const sent = Buffer.concat(parts);
        expect(body.equals(sent.length > 0 ? sent : Buffer.from('hello'))).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it('gets interim responses, then the response, then trailers', async () => {
    world.onExchange = (exchange) => {
      const stream = exchange as Stream;
      stream.sendInterim(100, []);
      stream.sendInterim(103, ['link', '</a.css>; rel=preload']);
      stream.respond(200, '', ['x-a', 'b'], false);
      stream.send('body', true, ['grpc-status', '0']);
    };
    const { headers, interim, trailers, body, code } = await call({ ':path': '/' });
    expect(headers).toMatchObject({ ':status': 200, 'x-a': 'b' });
    expect([interim, body.toString(), code]).toEqual([[100, 103], 'body', 0]);
    expect(trailers).toEqual(expect.objectContaining({ 'grpc-status': '0' }));
  });

  it('gets a head that is larger than a frame, in CONTINUATION frames', async () => {
    const large = 'x'.repeat(20_000);
    world.onExchange = (exchange) => {
      exchange.respond(200, '', ['x-a', large, 'x-b', large, 'x-c', 'last'], false);
      exchange.send('body', true);
    };
    session.destroy();
    session = connect(`http://127.0.0.1:${world.port}`, { maxHeaderListPairs: 100 });
    session.on('error', () => undefined);
    const { headers, body } = await call({ ':path': '/' });
    expect([headers['x-a'] === large, headers['x-b'] === large, headers['x-c']]).toEqual([
      true,
      true,
      'last',
    ]);
    expect(body.toString()).toBe('body');
  });

  it('sends heads that are larger than a frame', async () => {
    const values = Array.from({ length: 5 }, (_none, index) => String(index).repeat(9000));
    const fields = Object.fromEntries(values.map((value, index) => [`x-${index}`, value]));
    const { headers } = await call({ ':path': '/', ...fields });
    expect(headers[':status']).toBe(200);
    const [seen] = world.seen;
    expect(seen?.exchange.head.fields.filter((_text, index) => index % 2 === 1)).toEqual(
      expect.arrayContaining(values),
    );
  });

  it('may reset streams, and goes on', async () => {
    world.onExchange = () => undefined;
    for (let round = 0; round < 10; round += 1) {
      const stream = session.request({ ':path': '/' });
      stream.on('error', () => undefined);
      stream.close(8);
      await once(stream, 'close');
    }
    const ping = new Promise((resolve) => session.ping(resolve));
    await ping;
    expect(session.closed).toBe(false);
    expect(world.ended).toEqual([]);
  });
});

it('more requests in one read than are handled at once are all handled, without further reads or writes', async () => {
  world.onExchange = () => undefined;
  const client = await world.connect();
  const ids = Array.from({ length: 100 }, (_none, index) => 2 * index + 1);
  client.send(...ids.map((id) => get(id)));
  await eventually(() => expect(world.seen).toHaveLength(100));
});
