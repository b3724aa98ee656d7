import { describe, expect, it } from '@jest/globals';
import { data, ERROR, frame, FRAME, windowUpdate } from '@gateway/http/test/http2-frames';
import { eventually } from '@gateway/shared/test/eventually';
import { abuseOfHttp2, errorCode } from '../http2-abuse.ts';

/** The table of the engine has every error of a connection; these are the marks on the gateway, one for each code. */
const abuse = abuseOfHttp2();

describe('an error of an HTTP/2 connection ends it, and is counted', () => {
  it.each<[string, number, Buffer]>([
    ['a window update of 0', ERROR.protocolError, windowUpdate(0, 0)],
    ['a frame that is too large', ERROR.frameSizeError, data('x'.repeat(16_385), 0, 3)],
    ['a window that is too large', ERROR.flowControlError, windowUpdate(2 ** 31 - 1, 0)],
    [
      'a field block that cannot be decoded',
      ERROR.compressionError,
      frame(FRAME.headers, 5, 5, Buffer.from([0x80])),
    ],
  ])('%s', async (_case, code, error) => {
    const { connection } = abuse;
    connection.send(abuse.post(1), data('unfinished'), abuse.post(3), error, abuse.get(7));
    expect(errorCode(await connection.frame(FRAME.goAway))).toBe(code);
    await eventually(() => expect(connection.isClosed).toBe(true));
    await abuse.othersAreServed();
    expect(abuse.seen()).toEqual([]);
    expect(await abuse.gateway.registry.metrics()).toMatch(
      /gateway_connections_ended_total\{reason="HTTP2_INVALID_FRAME"\} 1\n/,
    );
  });
});
