import { once } from 'node:events';
import { createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2';
import { connect, createServer, Socket, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { HpackEncoder, type EncodedField } from '../../../test/hpack-encoder.ts';
import { FLAG, FRAME, fieldBlock, frame } from '../../../test/http2-frames.ts';
import { ConnectionGuard } from '@gateway/http/connection-guard';
import { InspectedConnection } from './inspected-connection.ts';

const PSEUDO = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':path', '/'],
  [':authority', 'a'],
] as const;

const server = createServer();
const http2 = createHttp2Server({ strictSingleValueFields: false });

beforeAll(async () => {
  http2.on('stream', (stream: ServerHttp2Stream, _headers, _flags, fields) => {
    stream.on('error', () => undefined);
    stream.respond({ ':status': 200 });
    stream.end(JSON.stringify(fields.slice(2 * PSEUDO.length)));
  });
  http2.on('sessionError', () => undefined);
  server.on('connection', (socket: Socket) => {
    const guard = new ConnectionGuard(socket, () => undefined);
    const connection = new InspectedConnection(socket, 128 * 1024, guard);
    connection.onInvalid = () => socket.destroy();
    http2.emit('connection', connection);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(() => {
  server.close();
});

/** Sends blocks, one stream each. Resolves with the fields that arrived on each stream, or 'reset'. */
async function answers(blocks: readonly Buffer[]): Promise<Map<number, unknown>> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  socket.write(frame(FRAME.settings, 0, 0));
  blocks.forEach((block, index) => {
    const flags = FLAG.endHeaders | FLAG.endStream;
    socket.write(frame(FRAME.headers, flags, 2 * index + 1, block));
  });
  const found = new Map<number, unknown>();
  let rest = Buffer.alloc(0);
  socket.on('data', (bytes: Buffer) => {
    rest = Buffer.concat([rest, bytes]);
    while (rest.length >= 9 && rest.length >= 9 + rest.readUIntBE(0, 3)) {
      const payload = rest.subarray(9, 9 + rest.readUIntBE(0, 3));
      const stream = rest.readUInt32BE(5);
      if (rest[3] === FRAME.rstStream) found.set(stream, 'reset');
      if (rest[3] === FRAME.data && payload.length > 0) {
        found.set(stream, JSON.parse(payload.toString()));
      }
      rest = rest.subarray(9 + payload.length);
    }
    if (found.size === blocks.length) socket.destroy();
  });
  await once(socket, 'close');
  return found;
}

const name = fc.constantFrom('x-a', 'x-bb', 'foo:bar', '', 'te ', 'x\0y', 'if-match', 'x-c');
const value = fc.constantFrom(
  '',
  'v',
  'a b',
  'v ',
  ' v',
  'a\0b',
  'a\r\nb',
  '\xe9',
  'y'.repeat(900),
);
const field: fc.Arbitrary<EncodedField> = fc.record({
  name,
  value,
  as: fc.constantFrom('field', 'name', 'added', 'plain', 'never'),
});
const request = fc.record({
  fields: fc.array(field, { maxLength: 6 }),
  resize: fc.option(fc.integer({ min: 0, max: 4096 }), { nil: undefined, freq: 6 }),
});

const isMalformed = ({ name: key, value: text }: EncodedField) =>
  !/^(x-a|x-bb|x-c|if-match)$/.test(key) || /^ | $|[\0\r\n]/.test(text);

describe('a request on an inspected connection', () => {
  it('is reset if node:http2 would drop a field, and has all its fields otherwise', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 10 }), async (sent) => {
        const encoder = new HpackEncoder();
        const blocks = sent.map(({ fields, resize }) =>
          Buffer.concat([
            resize === undefined ? Buffer.alloc(0) : encoder.resize(resize),
            fieldBlock(PSEUDO),
            ...fields.map((one) => encoder.field(one)),
          ]),
        );
        const got = await answers(blocks);
        sent.forEach(({ fields }, index) => {
          const all = fields.flatMap((one) => [one.name, one.value]);
          expect(got.get(2 * index + 1)).toEqual(fields.some(isMalformed) ? 'reset' : all);
        });
      }),
      { numRuns: 300 },
    );
  });
});

it('ends the connection if a listener of it throws', () => {
  const bug = new Error('a bug');
  const errors: unknown[] = [];
  const socket = new Socket();
  const guard = new ConnectionGuard(socket, (error) => void errors.push(error));
  const connection = new InspectedConnection(socket, 1024, guard);
  connection.on('pause', () => {
    throw bug;
  });
  connection.resume().pause();
  expect(errors).toEqual([bug]);
  expect(socket.destroyed).toBe(true);
});
