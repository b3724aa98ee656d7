import { describe, expect, it } from '@jest/globals';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { eventually } from '@gateway/shared/test/eventually';
import { GET, POST, respond, serveEachTest } from '../../../test/http1-world.ts';

const world = serveEachTest({ lingerTimeoutMs: 1000 });
const PIECE = 'x'.repeat(20_000);
const PIECES = 30;

/** A caller that does not stop sending when it gets the response. */
async function refuse(text: string) {
  world.onExchange = (exchange) => {
    respond(exchange, 'too large', ['Connection', 'close']);
  };
  const connection = await world.open(true);
  const errors: Error[] = [];
  connection.socket.on('error', (error) => void errors.push(error));
  connection.send(text);
  const { status } = await connection.response();
  return { connection, errors, status };
}

describe('a connection that ends after its response', () => {
  it.each([
    [`${POST}${(PIECES + 1) * PIECE.length}\r\n\r\n${PIECE}`, 200],
    [`GET / HTTP/1.1\r\nHost : a\r\n\r\n${PIECE}`, 400],
  ])(
    'is read until the caller has sent everything, so that it is never reset: %#',
    async (text, expected) => {
      const { connection, errors, status } = await refuse(text);
      for (let sent = 0; sent < PIECES; sent += 1) {
        connection.send(PIECE);
        // The server reads it, in the same process.
        await setImmediate();
      }
      connection.socket.end();
      await eventually(() => expect(connection.socket.destroyed).toBe(true));
      expect({ status, errors, cuts: world.cuts }).toEqual({
        status: expected,
        errors: [],
        cuts: 0,
      });
    },
  );

  it('is read although its requests are whole, if more of them have arrived before the response', async () => {
    const body = 'x'.repeat(1_000_000);
    let answer = (): void => undefined;
    world.onExchange = (exchange) => {
      answer = () => {
        respond(exchange, body, ['Connection', 'close']);
      };
    };
    const connection = await world.open(true);
    const errors: Error[] = [];
    connection.socket.on('error', (error) => void errors.push(error));
    connection.send(GET + GET.repeat(10_000));
    await setTimeout(50);
    answer();
    const response = await connection.response();
    expect([response.body.length, errors]).toEqual([body.length, []]);
    connection.socket.end();
    await eventually(() => expect(connection.socket.destroyed).toBe(true));
    expect(errors).toEqual([]);
  });

  it('is cut after a while if the caller goes on sending, and counted', async () => {
    const { connection } = await refuse(`${POST}999999999\r\n\r\n`);
    await eventually(() => {
      connection.send('x'.repeat(1000));
      expect(connection.socket.destroyed).toBe(true);
    });
    expect(world.cuts).toBe(1);
  });

  it('is closed after a while if the caller sends nothing, and not counted', async () => {
    const { connection } = await refuse(`${POST}5\r\n\r\n`);
    await eventually(() => {
      expect(connection.ended).toBe(true);
    });
    expect(world.cuts).toBe(0);
  });
});
