import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readResponse, splitAt } from '../../test/read-response.ts';

const INTERIM = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n';

describe('101 Switching Protocols', () => {
  const SWITCH = 'HTTP/1.1 101 x\r\nConnection: Upgrade\r\nUpgrade: WebSocket\r\n\r\n';

  it('is followed by bytes of the new protocol until the connection closes, for any reads', () => {
    const text = `${INTERIM}${SWITCH}\x81\x02hi`;
    fc.assert(
      fc.property(fc.array(fc.nat()), (positions) => {
        const result = readResponse(splitAt(text, positions), {
          close: true,
          upgrade: 'websocket',
        });
        expect(result).toMatchObject({ ok: true, status: 101, body: '\x81\x02hi', ended: true });
        expect(result.keepAlive).toBe(false);
      }),
    );
  });

  it.each([
    ['was not asked for', SWITCH, undefined],
    ['switches to another protocol', SWITCH, 'h2c'],
    ['names no protocol', 'HTTP/1.1 101 x\r\nConnection: Upgrade\r\n\r\n', 'websocket'],
    ['names two', SWITCH.replace('Conn', 'Upgrade: websocket\r\nConn'), 'websocket'],
  ])('is refused if it %s', (_case, text, upgrade) => {
    expect(readResponse([text], upgrade === undefined ? {} : { upgrade }).ok).toBe(false);
  });
});
