import { ERROR, FLAG, FRAME, SETTING } from '../../src/http2/protocol.ts';
import type { ExchangeFailure } from '../../src/exchange.ts';
import { answer } from '../http2-client-world.ts';
import {
  data,
  fieldBlock,
  frame,
  literal,
  MAX_WINDOW,
  reset,
  setting,
  settings,
  uint32,
  windowUpdate,
  type Fields,
} from '../http2-frames.ts';

/**
 * What a client must do. `goAway`: the connection ends with this code. `reset`: stream 1 is reset with this code, and other
 * streams go on. `failure`: how the request ends, `complete` if it does. `goAway` and `failure` alone: no frame is sent.
 */
interface Expected {
  readonly goAway?: number;
  readonly reset?: number;
  readonly end: 'complete' | ExchangeFailure;
}

/** A section of RFC 9113, what the server sends after a request, and what must follow. */
export type ServerCase = readonly [
  section: string,
  name: string,
  frames: readonly Buffer[],
  Expected,
];

const { endHeaders, endStream, padded, ack } = FLAG;
const BOTH = endHeaders | endStream;
const block = fieldBlock([[':status', '200']]);
const head = (fields: Fields, flags: number = BOTH) =>
  frame(FRAME.headers, flags, 1, fieldBlock(fields));
const big = Buffer.alloc(16_385);

const goAway = (code: number): Expected => ({ goAway: code, end: 'invalid_response' });
const PROTOCOL = goAway(ERROR.protocolError);
const SIZE = goAway(ERROR.frameSizeError);
const FLOW = goAway(ERROR.flowControlError);
const COMPRESSION = goAway(ERROR.compressionError);
const MALFORMED: Expected = { reset: ERROR.protocolError, end: 'invalid_response' };
const COMPLETE: Expected = { end: 'complete' };

export const FROM_SERVERS: readonly ServerCase[] = [
  ['4.1', 'an unknown frame', [frame(0xfa, 0xff, 1, Buffer.alloc(8)), answer(1, BOTH)], COMPLETE],
  ['4.2', 'DATA that is too large', [answer(), data(big)], SIZE],
  ['4.2', 'HEADERS that are too large', [frame(FRAME.headers, BOTH, 1, big)], SIZE],
  ['4.2', 'an unknown frame that is too large', [frame(0xfa, 0, 0, big)], SIZE],
  ['4.3', 'an incomplete block', [frame(FRAME.headers, BOTH, 1, Buffer.from([0x40]))], COMPRESSION],
  [
    '4.3',
    'an index that is in no table',
    [frame(FRAME.headers, BOTH, 1, Buffer.from([0xfe]))],
    COMPRESSION,
  ],
  [
    '4.3',
    'PING within a block',
    [frame(FRAME.headers, 0, 1, block), frame(FRAME.ping, 0, 0, Buffer.alloc(8))],
    PROTOCOL,
  ],
  [
    '4.3',
    'HEADERS of another stream within a block',
    [frame(FRAME.headers, 0, 1, block), answer(3)],
    PROTOCOL,
  ],
  [
    '4.3',
    'CONTINUATION without HEADERS',
    [frame(FRAME.continuation, endHeaders, 1, block)],
    PROTOCOL,
  ],
  [
    '4.3',
    'a block in several frames',
    [
      frame(FRAME.headers, endStream, 1, block.subarray(0, 3)),
      frame(FRAME.continuation, 0, 1, block.subarray(3)),
      frame(FRAME.continuation, endHeaders, 1),
    ],
    COMPLETE,
  ],
  ['5.1', 'DATA on an idle stream', [data('test', 0, 5)], PROTOCOL],
  ['5.1', 'HEADERS on an idle stream', [answer(5)], PROTOCOL],
  ['5.1', 'RST_STREAM on an idle stream', [reset(8, 5)], PROTOCOL],
  ['5.1', 'WINDOW_UPDATE on an idle stream', [windowUpdate(1, 5)], PROTOCOL],
  [
    '5.1',
    'HEADERS after the end',
    [answer(1, BOTH), answer(1, BOTH)],
    { goAway: ERROR.streamClosed, end: 'complete' },
  ],
  [
    '5.1',
    'DATA after the end',
    [answer(1, BOTH), data('more')],
    { reset: ERROR.streamClosed, end: 'complete' },
  ],
  ['5.1', 'a window update after the end', [answer(1, BOTH), windowUpdate(1)], COMPLETE],
  ['5.1', 'a reset after the end', [answer(1, BOTH), reset(0)], COMPLETE],
  [
    '5.1',
    'a priority',
    [frame(FRAME.priority, 0, 1, Buffer.from([0, 0, 0, 3, 1])), answer(1, BOTH)],
    COMPLETE,
  ],
  ['5.1.1', 'a stream that the server opens', [answer(2)], PROTOCOL],
  ['6.1', 'DATA on stream 0', [data('x', 0, 0)], PROTOCOL],
  [
    '6.1',
    'padding that is too long',
    [answer(), frame(FRAME.data, padded, 1, Buffer.from([9, 1]))],
    PROTOCOL,
  ],
  ['6.1', 'padded DATA without its length', [answer(), frame(FRAME.data, padded, 1)], SIZE],
  ['6.2', 'HEADERS on stream 0', [answer(0)], PROTOCOL],
  [
    '6.2',
    'padding of HEADERS that is too long',
    [frame(FRAME.headers, BOTH | padded, 1, Buffer.from([9, 1]))],
    PROTOCOL,
  ],
  ['6.4', 'RST_STREAM on stream 0', [reset(8, 0)], PROTOCOL],
  ['6.4', 'RST_STREAM of another size', [frame(FRAME.rstStream, 0, 1, Buffer.alloc(3))], SIZE],
  ['6.5', 'SETTINGS on a stream', [frame(FRAME.settings, 0, 1)], PROTOCOL],
  ['6.5', 'SETTINGS of a wrong size', [frame(FRAME.settings, 0, 0, Buffer.alloc(5))], SIZE],
  [
    '6.5',
    'an acknowledgement with a payload',
    [frame(FRAME.settings, ack, 0, setting(1, 1))],
    SIZE,
  ],
  ['6.5', 'a second acknowledgement', [frame(FRAME.settings, ack, 0)], PROTOCOL],
  ['6.5.2', 'push that the server enables', [settings([SETTING.enablePush, 1])], PROTOCOL],
  [
    '6.5.2',
    'push that the server disables',
    [settings([SETTING.enablePush, 0]), answer(1, BOTH)],
    COMPLETE,
  ],
  [
    '6.5.2',
    'a window that is too large',
    [settings([SETTING.initialWindowSize, MAX_WINDOW + 1])],
    FLOW,
  ],
  ['6.5.2', 'frames that are too small', [settings([SETTING.maxFrameSize, 16_383])], PROTOCOL],
  ['6.5.2', 'frames that are too large', [settings([SETTING.maxFrameSize, 2 ** 24])], PROTOCOL],
  ['6.5.2', 'an unknown setting', [settings([0xfa, 7]), answer(1, BOTH)], COMPLETE],
  [
    '6.6',
    'a pushed request',
    [frame(FRAME.pushPromise, endHeaders, 1, Buffer.concat([uint32(2), block]))],
    PROTOCOL,
  ],
  ['6.7', 'PING on a stream', [frame(FRAME.ping, 0, 1, Buffer.alloc(8))], PROTOCOL],
  ['6.7', 'PING of another size', [frame(FRAME.ping, 0, 0, Buffer.alloc(7))], SIZE],
  [
    '6.7',
    'an answer to a ping that was not sent',
    [frame(FRAME.ping, ack, 0, Buffer.alloc(8)), answer(1, BOTH)],
    COMPLETE,
  ],
  ['6.8', 'GOAWAY on a stream', [frame(FRAME.goAway, 0, 1, uint32(1, 0))], PROTOCOL],
  ['6.8', 'GOAWAY that is too short', [frame(FRAME.goAway, 0, 0, uint32(1))], SIZE],
  ['6.9', 'an empty window update of a stream', [windowUpdate(0)], MALFORMED],
  ['6.9', 'an empty window update of the connection', [windowUpdate(0, 0)], PROTOCOL],
  [
    '6.9',
    'a window update of another size',
    [frame(FRAME.windowUpdate, 0, 1, Buffer.alloc(3))],
    SIZE,
  ],
  [
    '6.9.1',
    'a window of a stream that overflows',
    [windowUpdate(MAX_WINDOW)],
    { reset: ERROR.flowControlError, end: 'invalid_response' },
  ],
  ['6.9.1', 'a window of the connection that overflows', [windowUpdate(MAX_WINDOW, 0)], FLOW],
  ['8.1', 'DATA before the head', [data('x')], MALFORMED],
  ['8.1', 'the end before the head', [data('', endStream)], MALFORMED],
  ['8.1', 'a second head', [answer(), answer(1, BOTH)], MALFORMED],
  [
    '8.1',
    'trailers that do not end the stream',
    [answer(), head([['x-a', '1']], endHeaders)],
    MALFORMED,
  ],
  ['8.1', 'trailers', [answer(), data('x'), head([['x-a', '1']])], COMPLETE],
  ['8.1', 'trailers with a pseudo-header field', [answer(), head([[':status', '200']])], MALFORMED],
  ['8.1', 'an interim response that ends the stream', [head([[':status', '103']])], MALFORMED],
  [
    '8.1',
    'interim responses before the head',
    [
      head([[':status', '100']], endHeaders),
      head([[':status', '103']], endHeaders),
      answer(1, BOTH),
    ],
    COMPLETE,
  ],
  [
    '8.1',
    'an interim response after the head',
    [answer(), head([[':status', '103']], endHeaders)],
    MALFORMED,
  ],
  [
    '8.1',
    'more than a hundred interim responses',
    Array.from({ length: 101 }, () => head([[':status', '102']], endHeaders)),
    MALFORMED,
  ],
  [
    '8.1.1',
    'more bytes than announced',
    [answer(1, endHeaders, [['content-length', '2']]), data('abc')],
    MALFORMED,
  ],
  [
    '8.1.1',
    'fewer bytes than announced',
    [answer(1, endHeaders, [['content-length', '4']]), data('abc', endStream)],
    MALFORMED,
  ],
  [
    '8.1.1',
    'fewer bytes than announced before trailers',
    [answer(1, endHeaders, [['content-length', '4']]), head([['x-a', '1']])],
    MALFORMED,
  ],
  ['8.1.1', 'a length without a body', [answer(1, BOTH, [['content-length', '4']])], MALFORMED],
  ['8.1.1', 'the length 0 without a body', [answer(1, BOTH, [['content-length', '0']])], COMPLETE],
  [
    '8.1.1',
    'two equal lengths',
    [
      answer(1, endHeaders, [
        ['content-length', '1'],
        ['content-length', '1'],
      ]),
      data('x', endStream),
    ],
    COMPLETE,
  ],
  [
    '8.1.1',
    'two lengths that differ',
    [
      answer(1, endHeaders, [
        ['content-length', '1'],
        ['content-length', '2'],
      ]),
    ],
    MALFORMED,
  ],
  [
    '8.1.1',
    'a length that is no number',
    [answer(1, endHeaders, [['content-length', '+1']])],
    MALFORMED,
  ],
  [
    '8.1.1',
    'DATA in a response with the status 204',
    [head([[':status', '204']], endHeaders), data('x')],
    MALFORMED,
  ],
  [
    '8.1.1',
    'a response with the status 304 and a length',
    [
      head([
        [':status', '304'],
        ['content-length', '4'],
      ]),
    ],
    COMPLETE,
  ],
  [
    '8.1.1',
    'an empty end of a response with the status 204',
    [head([[':status', '204']], endHeaders), data('', endStream)],
    COMPLETE,
  ],
  ['8.2.1', 'a name in upper case', [answer(1, BOTH, [['X-A', '1']])], MALFORMED],
  ['8.2.1', 'a name with a space', [answer(1, BOTH, [['x a', '1']])], MALFORMED],
  ['8.2.1', 'a value with a line break', [answer(1, BOTH, [['x-a', 'a\r\nb: c']])], MALFORMED],
  ['8.2.1', 'a value with a space before it', [answer(1, BOTH, [['x-a', ' a']])], MALFORMED],
  ['8.2.2', 'a field of the connection', [answer(1, BOTH, [['connection', 'close']])], MALFORMED],
  ['8.2.2', 'a transfer coding', [answer(1, BOTH, [['transfer-encoding', 'chunked']])], MALFORMED],
  [
    '8.3',
    'an unknown pseudo-header field',
    [
      head([
        [':status', '200'],
        [':x', '1'],
      ]),
    ],
    MALFORMED,
  ],
  [
    '8.3',
    'a pseudo-header field of requests',
    [
      head([
        [':status', '200'],
        [':path', '/'],
      ]),
    ],
    MALFORMED,
  ],
  [
    '8.3',
    'a status after another field',
    [
      head([
        ['x-a', '1'],
        [':status', '200'],
      ]),
    ],
    MALFORMED,
  ],
  ['8.3.2', 'no status', [head([['x-a', '1']])], MALFORMED],
  [
    '8.3.2',
    'two statuses',
    [
      head([
        [':status', '200'],
        [':status', '200'],
      ]),
    ],
    MALFORMED,
  ],
  ['8.3.2', 'a status of two digits', [head([[':status', '20']])], MALFORMED],
  ['8.3.2', 'a status above 599', [head([[':status', '600']])], MALFORMED],
  ['8.6', 'the status 101', [head([[':status', '101']], endHeaders)], MALFORMED],
  ['7', 'a stream that is refused', [reset(ERROR.refusedStream)], { end: 'refused_stream' }],
  ['7', 'a stream that is cancelled', [reset(ERROR.cancel)], { end: 'reset' }],
  [
    '7',
    'a reset within the body',
    [answer(), data('x'), reset(ERROR.internalError)],
    { end: 'reset' },
  ],
  [
    '3.4',
    'bytes of HTTP/1.1',
    [Buffer.from('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n')],
    SIZE,
  ],
  [
    '6.5.2',
    'fields above the limit',
    [
      frame(FRAME.headers, 0, 1, literal(0, ':status', '200')),
      ...Array.from({ length: 5 }, (_none, at) =>
        frame(
          FRAME.continuation,
          at === 4 ? endHeaders : 0,
          1,
          literal(0, `x-${at}`, 'y'.repeat(16_000)),
        ),
      ),
    ],
    { reset: ERROR.cancel, end: 'response_head_too_large' },
  ],
  [
    '6.5.2',
    'too many fields',
    [
      frame(
        FRAME.headers,
        endHeaders,
        1,
        Buffer.concat([
          literal(0, ':status', '200'),
          ...Array.from({ length: 1000 }, () => literal(0, 'x', '1')),
        ]),
      ),
    ],
    { reset: ERROR.cancel, end: 'response_head_too_large' },
  ],
  [
    '6.5.2',
    'trailers above the limit',
    [
      answer(),
      frame(
        FRAME.headers,
        BOTH,
        1,
        Buffer.concat(Array.from({ length: 1001 }, () => literal(0, 'x', '1'))),
      ),
    ],
    { reset: ERROR.cancel, end: 'response_head_too_large' },
  ],
];
