import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { openStream } from '../../test/begun-stream.ts';
import { PAIRS, type CallerProtocol, type UpstreamProtocol } from '../../test/stream-world.ts';

const opened = closeAfterEach();
const MAX = 100;

function prefix(length: number): string {
  const bytes = Buffer.alloc(5);
  bytes.writeUInt32BE(length, 1);
  return bytes.toString('latin1');
}
const message = (length: number) => prefix(length) + 'm'.repeat(length);

const setUp = (
  protocol: CallerProtocol,
  upstream: UpstreamProtocol,
  headers: Readonly<Record<string, string>> = {},
  route = {},
) => {
  const limits = { max_message_bytes: MAX, max_body_bytes: 10, ...route };
  const type = { 'content-type': 'application/connect+json' };
  return openStream(opened, [protocol, upstream], limits, { headers: { ...type, ...headers } });
};

describe.each(PAIRS)(
  'a body of messages on a route with streaming, over %s and its upstream over %s',
  (protocol, upstream) => {
    it('may be of any size if each message is within max_message_bytes', async () => {
      const { caller, server } = await setUp(protocol, upstream);
      const sent = message(MAX).repeat(50);
      caller.send(sent);
      caller.finish();
      const stream = await server.next();
      await eventually(() => expect(stream.end).toBe('ended'));
      expect(stream.text).toBe(sent);
      stream.response.end();
      await eventually(() => expect(caller.status).toBe(200));
    });

    it.each([
      ['in its first part', ''],
      ['after others', message(MAX)],
    ])(
      'gets 413 as soon as a larger message is announced, %s, before its bytes are sent',
      async (_where, before) => {
        const { caller, server, record } = await setUp(protocol, upstream);
        if (before !== '') {
          caller.send(before);
          await server.next();
        }
        caller.send(prefix(MAX + 1).slice(0, 3));
        caller.send(prefix(MAX + 1).slice(3));
        await eventually(() => expect(caller.status).toBe(413));
        expect(caller.headers['x-gateway-error']).toBe('payload_too_large');
        await eventually(() => expect(caller.text).toContain('(max_message_bytes)'));
        expect(await record()).toMatchObject({
          outcome: 'rejected',
          error_code: 'payload_too_large',
        });
      },
    );

    it('ends the exchange if the response has begun, and nobody else is blamed', async () => {
      const { caller, server, record } = await setUp(protocol, upstream);
      caller.send(message(MAX));
      const stream = await server.next();
      stream.response.write('begun');
      await eventually(() => expect(caller.text).toBe('begun'));
      caller.send(prefix(MAX + 1));
      await eventually(() => expect(caller.end).toBe('cut'));
      await eventually(() => expect(stream.end).toBe('cut'));
      expect(await record()).toMatchObject({
        status: 200,
        outcome: 'rejected',
        error_code: 'payload_too_large',
      });
    });

    it('is bounded by max_body_bytes if it is of another type', async () => {
      const { caller } = await setUp(protocol, upstream, { 'content-type': 'application/json' });
      caller.send('x'.repeat(11));
      await eventually(() => expect(caller.status).toBe(413));
    });

    it('is bounded by max_body_bytes on a route without streaming', async () => {
      const { caller } = await setUp(protocol, upstream, {}, { streaming: false });
      caller.send(message(MAX));
      await eventually(() => expect(caller.status).toBe(413));
    });

    it('has the same limit for each message if it has an idempotency key, and is read whole', async () => {
      const { caller, server } = await setUp(protocol, upstream, { 'idempotency-key': 'one' });
      caller.send(message(MAX) + message(MAX));
      caller.finish();
      const stream = await server.next();
      await eventually(() => expect(stream.text).toBe(message(MAX) + message(MAX)));
      stream.response.end();
      await eventually(() => expect(caller.status).toBe(200));
      const other = await setUp(protocol, upstream, { 'idempotency-key': 'two' });
      other.caller.send(message(MAX) + prefix(MAX + 1));
      await eventually(() => expect(other.caller.status).toBe(413));
    });
  },
);

it('answers a gRPC call with a message that is too large with RESOURCE_EXHAUSTED', async () => {
  const { caller } = await setUp('http2', 'http2', { 'content-type': 'application/grpc' });
  caller.send(prefix(MAX + 1));
  await eventually(() => expect(caller.status).toBe(413));
  expect(caller.headers).toMatchObject({ 'grpc-status': '8' });
});
