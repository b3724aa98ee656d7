import { ERROR, FIRST_WINDOW, FLAG, FRAME, MAX_WINDOW, SETTING } from '../../src/http2/protocol.ts';
import {
  data,
  fieldBlock,
  frame,
  get,
  HEAD,
  literal,
  post,
  pseudo,
  reset,
  settings,
  uint32,
  windowUpdate,
} from '../http2-frames.ts';
import { ANSWER, type Case, type Expected } from './case.ts';

const { endStream, endHeaders, padded } = FLAG;
const MALFORMED: Expected = { reset: ERROR.protocolError };
const TOO_LARGE: Expected = { reset: ERROR.flowControlError };
const CLOSED: Expected = { reset: ERROR.streamClosed };
const COMPRESSION: Expected = { goAway: ERROR.compressionError };
const block = fieldBlock(pseudo());
const invalid = fieldBlock([...pseudo(), ['x-field', 'v ']]);
const length = (text: string) => post(1, [['content-length', text]]);
const hex = (text: string) => Buffer.from(text, 'hex');
/** A stream whose request has ended, and one that the caller has reset. */
const OVER = [
  ['the end of its request', [post(), data('whole', endStream)]],
  ['its reset', [post(), reset()]],
] as const;

/** Cases that h2spec does not have. */
export const OWN: readonly Case[] = [
  // An error of a stream must not hide one of its connection.
  [
    '5.4.1',
    'an error of the connection after one of a stream',
    [length('4'), data('123456'), windowUpdate(0, 0)],
    { goAway: ERROR.protocolError },
  ],
  [
    '5.4.2',
    'DATA after the end of a stream and after another error of it',
    [get(), windowUpdate(MAX_WINDOW), data('late'), windowUpdate(0), data('late', endStream)],
    TOO_LARGE,
  ],
  [
    '6.7',
    'a reply to a ping of a wrong size',
    [frame(FRAME.ping, FLAG.ack, 0, Buffer.alloc(7))],
    { goAway: ERROR.frameSizeError },
  ],
  [
    '6.8',
    'GOAWAY of a wrong size',
    [frame(FRAME.goAway, 0, 0, Buffer.alloc(7))],
    { goAway: ERROR.frameSizeError },
  ],
  ['6.9', 'WINDOW_UPDATE of 0 with the reserved bit', [post(), windowUpdate(2 ** 31)], MALFORMED],
  ['6.9', 'WINDOW_UPDATE of 0 on a closed stream', [post(), reset(), windowUpdate(0)], 'alive'],
  [
    '6.9.1',
    'the largest window',
    [post(), windowUpdate(MAX_WINDOW - FIRST_WINDOW), data('x', endStream)],
    ANSWER,
  ],
  [
    '6.9.1',
    'a window that is too large by 1 after several updates',
    [
      post(),
      ...[MAX_WINDOW - FIRST_WINDOW - 7, 7, 1, 1, 0].map((increment) => windowUpdate(increment)),
    ],
    TOO_LARGE,
  ],
  [
    '6.9.2',
    'a window that is too large after a setting',
    [post(), settings([SETTING.initialWindowSize, MAX_WINDOW]), windowUpdate(1)],
    TOO_LARGE,
  ],
  [
    '6.9.1',
    'a window that is too large while a response is sent',
    [
      settings([SETTING.initialWindowSize, 0]),
      get(),
      windowUpdate(1),
      (client) => client.frame(FRAME.data, 1),
      windowUpdate(MAX_WINDOW),
      windowUpdate(1),
      settings([SETTING.initialWindowSize, FIRST_WINDOW]),
    ],
    TOO_LARGE,
  ],
  ['8.1.1', 'DATA beyond the length before the end', [length('4'), data('123456')], MALFORMED],
  [
    '8.1.1',
    'DATA beyond the length in a second frame, and more after it',
    [length('4'), data('1234'), data('5'), data('6'), data('', endStream)],
    MALFORMED,
  ],
  ['8.1.1', 'DATA beyond a length of 0', [length('0'), data('1')], MALFORMED],
  ['8.1.1', 'less DATA than the length', [length('4'), data('1', endStream)], MALFORMED],
  [
    '8.2.1',
    'an invalid field in CONTINUATION frames',
    [
      frame(FRAME.headers, endStream, 1, invalid.subarray(0, -8)),
      frame(FRAME.continuation, 0, 1, invalid.subarray(-8, -1)),
      frame(FRAME.continuation, endHeaders, 1, invalid.subarray(-1)),
    ],
    MALFORMED,
  ],
  [
    '8.2.1',
    'an invalid field in a frame with padding and a priority',
    [
      frame(
        FRAME.headers,
        HEAD | padded | FLAG.priority,
        1,
        Buffer.concat([Buffer.from([3, 0, 0, 0, 0, 15]), invalid, Buffer.alloc(3)]),
      ),
    ],
    MALFORMED,
  ],
  [
    '8.2.1',
    'an invalid field of the table',
    [
      frame(FRAME.headers, HEAD, 1, Buffer.concat([block, literal(0x40, 'x-field', 'v ')])),
      (client) => client.frame(FRAME.rstStream, 1),
      frame(FRAME.headers, HEAD, 3, Buffer.concat([block, Buffer.from([0x80 | 62])])),
    ],
    { reset: ERROR.protocolError, stream: 3 },
  ],
  [
    '8.2.1',
    'the name of an invalid field of the table with another value',
    [
      frame(FRAME.headers, HEAD, 3, Buffer.concat([block, literal(0x40, 'x-field', 'v ')])),
      frame(FRAME.headers, HEAD, 5, Buffer.concat([block, hex('0f2f0176')])),
    ],
    { answer: 5 },
  ],
  ...OVER.flatMap(([name, frames]): readonly Case[] => [
    ['5.1', `DATA after ${name}`, [...frames, data('late')], CLOSED],
    ['5.1', `empty DATA after ${name}`, [...frames, data('', endStream)], CLOSED],
    ['5.1', `another request after ${name}`, [...frames, post()], CLOSED],
    [
      '5.1',
      `more DATA than the window of the connection after ${name}`,
      [
        ...frames,
        ...Array.from({ length: 20 }, () => [
          ...Array.from({ length: 10 }, () => data('x'.repeat(16_000))),
          (client: { settled(): Promise<void> }) => client.settled(),
        ]).flat(),
      ],
      CLOSED,
    ],
  ]),
  [
    '9218.7.1',
    'PRIORITY_UPDATE, which has no effect',
    [frame(16, 0, 0, Buffer.concat([uint32(1), Buffer.from('u=1')])), get()],
    ANSWER,
  ],
  [
    '7541.5.1',
    'an integer beyond 32 bits, which would be 128 in 32 bits',
    [
      frame(
        FRAME.headers,
        HEAD,
        1,
        Buffer.concat([block, hex('0003782d617f8180808010'), Buffer.alloc(128, 'v')]),
      ),
    ],
    COMPRESSION,
  ],
  [
    '7541.5.2',
    'a truncated string',
    [frame(FRAME.headers, HEAD, 1, Buffer.concat([block, hex('0001610562')]))],
    COMPRESSION,
  ],
];
