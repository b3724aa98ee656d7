import { expect, it } from '@jest/globals';
import {
  data,
  fieldBlock,
  frame,
  get,
  HEAD,
  post,
  pseudo,
  type Fields,
} from '../../test/http2-frames.ts';
import { serveHttp2EachTest } from '../../test/http2-world.ts';
import { ERROR, FLAG, FRAME } from './protocol.ts';

const world = serveHttp2EachTest();

const LENGTH = ['content-length', '4'] as const;
const request = (fields: Fields) => frame(FRAME.headers, HEAD, 1, fieldBlock(fields));

it.each<[string, Buffer[]]>([
  ['a length and no body', [get(1, [LENGTH])]],
  ['two equal lengths', [post(1, [LENGTH, LENGTH]), data('body', FLAG.endStream)]],
  [
    'a length that is no number',
    [post(1, [['content-length', '+4']]), data('body', FLAG.endStream)],
  ],
  ['a target without a path, and not OPTIONS', [request(pseudo('GET', '*'))]],
  ['a relative path', [request(pseudo('GET', 'a'))]],
])('a request is malformed with %s', async (_what, frames) => {
  const client = await world.connect();
  client.send(...frames, get(3));
  const { payload } = await client.frame(FRAME.rstStream, 1);
  expect(payload.readUInt32BE(0)).toBe(ERROR.protocolError);
  await client.ended(3);
  expect(world.seen).toHaveLength(1);
});

it('OPTIONS has a target without a path', async () => {
  const client = await world.connect();
  client.send(request(pseudo('OPTIONS', '*')));
  await client.ended();
  expect(world.seen[0]?.exchange.head.url).toBe('*');
});
