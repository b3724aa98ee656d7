import { ERROR, FLAG, FRAME } from '../../src/http2/protocol.ts';
import { answer } from '../http2-client-world.ts';
import { data, fieldBlock, frame, literal, type Fields } from '../http2-frames.ts';
import { COMPLETE, MALFORMED, type ServerCase } from './server-case.ts';

const { endHeaders, endStream } = FLAG;
const BOTH = endHeaders | endStream;
const head = (fields: Fields, flags: number = BOTH) =>
  frame(FRAME.headers, flags, 1, fieldBlock(fields));

/** Responses of servers: RFC 9113 section 8, and what is too large of them. */
export const SERVER_MESSAGES: readonly ServerCase[] = [
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
