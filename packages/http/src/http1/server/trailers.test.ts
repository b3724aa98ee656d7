import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { CHUNKED, GET, respond, serveEachTest, sink } from '../../../test/http1-world.ts';
import type { HeaderFields } from '../../fields/header-fields.ts';
import { UnsendableError } from '../../message/message-writer.ts';
import type { Http1Exchange } from './exchange.ts';

const world = serveEachTest();
const CODED = '5\r\nhello\r\n0\r\nX-Sum: 7\r\nX-Last: yes\r\n\r\n';
const TRAILERS = ['X-Sum', '7', 'X-Last', 'yes'];

describe('the trailers of a request', () => {
  it('are beside a body that is taken whole', async () => {
    world.onExchange = (exchange) => {
      expect(exchange.body.takeWhole(10)?.toString()).toBe('hello');
      respond(exchange, JSON.stringify(exchange.body.trailers));
    };
    const connection = await world.open();
    connection.send(CHUNKED + CODED);
    expect(await (await connection.response()).text()).toBe(JSON.stringify(TRAILERS));
  });

  it.each<[string, (exchange: Http1Exchange, read: () => void) => void]>([
    ['it arrives', (_exchange, read) => read()],
    [
      'it has waited',
      ({ body }, read) => void eventually(() => expect(body.ended).toBe('complete')).then(read),
    ],
  ])(
    'come with the last part of a body that is read when %s, and with no other',
    async (_when, begin) => {
      const parts: [string, boolean, HeaderFields | undefined][] = [];
      world.onExchange = (exchange) => {
        begin(exchange, () => {
          exchange.body.start(
            sink({
              data(bytes, last, trailers) {
                parts.push([bytes.toString(), last, trailers]);
                if (last) respond(exchange, 'ok');
              },
            }),
          );
        });
      };
      const connection = await world.open();
      for (const part of [CHUNKED, '3\r\nabc\r\n', '3\r\ndef\r\n0\r\nX-Sum', ': 7\r\n\r\n']) {
        connection.send(part);
        await new Promise(setImmediate);
      }
      expect(await (await connection.response()).text()).toBe('ok');
      const last = parts.pop();
      expect(last?.slice(1)).toEqual([true, ['X-Sum', '7']]);
      for (const part of parts) expect(part.slice(1)).toEqual([false, undefined]);
    },
  );

  it('of one request are not those of the next', async () => {
    const seen: unknown[] = [];
    world.onExchange = (exchange) => {
      seen.push(exchange.body.takeWhole(10)?.toString(), exchange.body.trailers);
      respond(exchange, 'ok');
    };
    const connection = await world.open();
    connection.send(`${CHUNKED}${CODED}${CHUNKED}0\r\n\r\n${GET}`);
    for (let index = 0; index < 3; index += 1) await connection.response();
    expect(seen).toEqual(['hello', TRAILERS, '', undefined, '', undefined]);
  });
});

describe('the trailers of a response', () => {
  it.each([
    ['with its only part', (exchange: Http1Exchange) => exchange.send('hello', true, TRAILERS)],
    [
      'after its last part',
      (exchange: Http1Exchange) =>
        exchange.send('hello', false) && exchange.send('', true, TRAILERS),
    ],
    [
      'with a large part',
      (exchange: Http1Exchange) => exchange.send(Buffer.alloc(70_000, 'x'), true, TRAILERS),
    ],
    [
      'of a response without a byte',
      (exchange: Http1Exchange) => exchange.send('', true, TRAILERS),
    ],
  ])('are sent %s', async (_when, send) => {
    world.onExchange = (exchange) => {
      exchange.respond(200, 'OK', [], false);
      send(exchange);
    };
    const connection = await world.open();
    connection.send(GET + GET);
    for (let index = 0; index < 2; index += 1) {
      const { trailers, complete } = await connection.response();
      expect({ trailers, complete }).toEqual({
        trailers: ['X-Sum: 7', 'X-Last: yes'],
        complete: true,
      });
    }
  });

  it.each([
    ['has a length', GET, 200, ['Content-Length', '5']],
    ['is to HEAD', GET.replace('GET', 'HEAD'), 200, []],
    ['has the status 204', GET, 204, []],
    ['has the status 304', GET, 304, []],
    ['is to a caller of HTTP/1.0', GET.replace('1.1', '1.0'), 200, []],
  ])('are not sent if it %s', async (_what, request, status, fields) => {
    world.onExchange = (exchange) => {
      exchange.respond(status, '', fields, false);
      exchange.send('hello', true, TRAILERS);
    };
    const connection = await world.open();
    connection.send(request);
    const response = await connection.response(request.slice(0, 4).trim());
    expect(response).toMatchObject({ status, complete: true, trailers: [] });
    expect(connection.receivedText).toBe('');
    if (status === 200 && !request.startsWith('HEAD')) expect(await response.text()).toBe('hello');
  });

  it('are refused with a control character, before anything is sent', async () => {
    world.onExchange = (exchange) => {
      exchange.respond(200, 'OK', [], false);
      expect(() => exchange.send('hello', true, ['X-Sum', '7\r\nX-Other: 1'])).toThrow(
        UnsendableError,
      );
      exchange.send('', true);
    };
    const connection = await world.open();
    connection.send(GET);
    expect(await connection.response()).toMatchObject({ trailers: [], body: Buffer.alloc(0) });
  });
});
