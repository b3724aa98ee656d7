import { ERROR, FLAG, FRAME, SETTING } from '../../src/http2/protocol.ts';
import {
  data,
  fieldBlock,
  frame,
  get,
  HEAD,
  post,
  pseudo,
  reset,
  setting,
  settings,
  uint32,
  windowUpdate,
  type Fields,
} from '../http2-frames.ts';
import { LIMITS } from '../http2-world.ts';
import type { Case, Expected, Step } from './case.ts';

const { endHeaders, endStream, padded } = FLAG;
const block = fieldBlock(pseudo());
const MORE = fieldBlock([['x-more', '1']]);
const MAX_WINDOW = 2 ** 31 - 1;

const PROTOCOL: Expected = { goAway: ERROR.protocolError };
const SIZE: Expected = { goAway: ERROR.frameSizeError };
const FLOW: Expected = { goAway: ERROR.flowControlError };
const MALFORMED: Expected = { reset: ERROR.protocolError };
const CLOSED: Expected = { reset: ERROR.streamClosed };

const begun = (flags: number = endStream, stream = 1) => frame(FRAME.headers, flags, stream, block);
const more = (flags: number, stream = 1) => frame(FRAME.continuation, flags, stream, MORE);
const priority = (stream: number, parent = 0) =>
  frame(FRAME.priority, 0, stream, Buffer.concat([uint32(parent), Buffer.from([255])]));
const trailers = (fields: Fields, flags: number) =>
  frame(FRAME.headers, flags, 1, fieldBlock(fields));
/** A request that has ended, with its response. */
const answered: readonly Step[] = [get(), (client) => client.ended()];

/** Frames that a server must refuse: all other cases of h2spec's tests of RFC 9113, in their order. */
export const ERRORS: readonly Case[] = [
  ['4.2', 'DATA that is too large', [post(), data('x'.repeat(16_385), endStream)], SIZE],
  [
    '4.2',
    'HEADERS that are too large',
    [frame(FRAME.headers, HEAD, 1, Buffer.alloc(16_385))],
    SIZE,
  ],
  [
    '4.3',
    'an incomplete block',
    [frame(FRAME.headers, HEAD, 1, Buffer.from([0x40]))],
    { goAway: ERROR.compressionError },
  ],
  ['4.3', 'PRIORITY within a block', [begun(0), priority(1), more(endHeaders)], PROTOCOL],
  ['4.3', 'HEADERS of another stream within a block', [begun(0), get(3)], PROTOCOL],
  ['5.1', 'DATA on an idle stream', [data('test', endStream)], PROTOCOL],
  ['5.1', 'RST_STREAM on an idle stream', [reset()], PROTOCOL],
  ['5.1', 'WINDOW_UPDATE on an idle stream', [windowUpdate(100)], PROTOCOL],
  ['5.1', 'CONTINUATION on an idle stream', [more(endHeaders)], PROTOCOL],
  ['5.1', 'DATA on a half-closed (remote) stream', [get(), data('test', endStream)], CLOSED],
  ['5.1', 'HEADERS on a half-closed (remote) stream', [get(), get()], CLOSED],
  ['5.1', 'CONTINUATION on a half-closed (remote) stream', [get(), more(endHeaders)], PROTOCOL],
  ['5.1', 'DATA after RST_STREAM', [post(), reset(), data('test', endStream)], CLOSED],
  ['5.1', 'HEADERS after RST_STREAM', [post(), reset(), get()], CLOSED],
  ['5.1', 'CONTINUATION after RST_STREAM', [post(), reset(), more(endHeaders)], PROTOCOL],
  ['5.1', 'DATA on a closed stream', [...answered, data('test', endStream)], CLOSED],
  ['5.1', 'HEADERS on a closed stream', [...answered, get()], { goAway: ERROR.streamClosed }],
  ['5.1', 'CONTINUATION on a closed stream', [...answered, more(endHeaders)], PROTOCOL],
  ['5.1.1', 'an even stream id', [get(2)], PROTOCOL],
  // A lower id is that of a stream that was closed without use.
  ['5.1.1', 'a lower stream id', [get(5), get(3)], { goAway: ERROR.streamClosed }],
  [
    '5.1.2',
    'more streams than allowed',
    [
      settings([SETTING.initialWindowSize, 0]),
      ...Array.from({ length: LIMITS.maxConcurrentStreams + 1 }, (_none, index) =>
        get(2 * index + 1),
      ),
    ],
    { reset: ERROR.refusedStream, stream: 2 * LIMITS.maxConcurrentStreams + 1 },
  ],
  [
    '5.3.1',
    'HEADERS that depend on themselves',
    [
      frame(
        FRAME.headers,
        HEAD | FLAG.priority,
        1,
        Buffer.concat([uint32(1), Buffer.from([255]), block]),
      ),
    ],
    MALFORMED,
  ],
  ['5.3.1', 'PRIORITY that depends on itself', [priority(1, 1)], MALFORMED],
  ['5.4.1', 'an error closes the connection', [frame(FRAME.ping, 0, 3, Buffer.alloc(8))], PROTOCOL],
  ['5.4.1', 'an error is sent in GOAWAY', [frame(FRAME.ping, 0, 3, Buffer.alloc(8))], PROTOCOL],
  [
    '5.5',
    'an extension frame within a block',
    [begun(), frame(0x16, 0, 0, Buffer.alloc(8))],
    PROTOCOL,
  ],
  ['6.1', 'DATA without a stream', [data('test', endStream, 0)], PROTOCOL],
  ['6.1', 'DATA on a stream that has ended', [get(), data('test', endStream)], CLOSED],
  [
    '6.1',
    'DATA with more padding than bytes',
    [post(), frame(FRAME.data, padded | endStream, 1, Buffer.from('\x06test', 'latin1'))],
    PROTOCOL,
  ],
  ['6.2', 'PRIORITY after HEADERS without END_HEADERS', [begun(0), priority(1)], PROTOCOL],
  ['6.2', 'other HEADERS after HEADERS without END_HEADERS', [begun(0), get(3)], PROTOCOL],
  ['6.2', 'HEADERS without a stream', [get(0)], PROTOCOL],
  [
    '6.2',
    'HEADERS with more padding than bytes',
    [
      frame(
        FRAME.headers,
        HEAD | padded,
        1,
        Buffer.concat([Buffer.from([block.length + 2]), block]),
      ),
    ],
    PROTOCOL,
  ],
  ['6.3', 'PRIORITY without a stream', [priority(0)], PROTOCOL],
  [
    '6.3',
    'PRIORITY of a wrong size',
    [post(), frame(FRAME.priority, 0, 1, Buffer.from([0x80, 0, 0, 1]))],
    { reset: ERROR.frameSizeError },
  ],
  ['6.4', 'RST_STREAM without a stream', [reset(8, 0)], PROTOCOL],
  ['6.4', 'RST_STREAM of an idle stream', [reset()], PROTOCOL],
  [
    '6.4',
    'RST_STREAM of a wrong size',
    [post(), frame(FRAME.rstStream, 0, 1, Buffer.alloc(3))],
    SIZE,
  ],
  [
    '6.5',
    'an acknowledgement with a payload',
    [frame(FRAME.settings, FLAG.ack, 0, Buffer.alloc(1))],
    SIZE,
  ],
  ['6.5', 'SETTINGS on a stream', [frame(FRAME.settings, 0, 1, setting(3, 100))], PROTOCOL],
  ['6.5', 'SETTINGS of a wrong size', [frame(FRAME.settings, 0, 0, Buffer.from([0, 3, 0]))], SIZE],
  ['6.5.2', 'an invalid ENABLE_PUSH', [settings([SETTING.enablePush, 2])], PROTOCOL],
  ['6.5.2', 'a first window above 2^31-1', [settings([SETTING.initialWindowSize, 2 ** 31])], FLOW],
  ['6.5.2', 'a frame size below 2^14', [settings([SETTING.maxFrameSize, 16_383])], PROTOCOL],
  ['6.5.2', 'a frame size above 2^24-1', [settings([SETTING.maxFrameSize, 2 ** 24])], PROTOCOL],
  ['6.7', 'PING on a stream', [frame(FRAME.ping, 0, 1, Buffer.alloc(8))], PROTOCOL],
  ['6.7', 'PING of a wrong size', [frame(FRAME.ping, 0, 0, Buffer.alloc(6))], SIZE],
  ['6.8', 'GOAWAY on a stream', [frame(FRAME.goAway, 0, 1, Buffer.alloc(8))], PROTOCOL],
  ['6.9', 'WINDOW_UPDATE of 0 of the connection', [windowUpdate(0, 0)], PROTOCOL],
  ['6.9', 'WINDOW_UPDATE of 0 of a stream', [post(), windowUpdate(0)], MALFORMED],
  [
    '6.9',
    'WINDOW_UPDATE of a wrong size',
    [frame(FRAME.windowUpdate, 0, 0, Buffer.from([0, 0, 1]))],
    SIZE,
  ],
  [
    '6.9.1',
    'a window of the connection above 2^31-1',
    [windowUpdate(MAX_WINDOW, 0), windowUpdate(MAX_WINDOW, 0)],
    FLOW,
  ],
  [
    '6.9.1',
    'a window of a stream above 2^31-1',
    [post(), windowUpdate(MAX_WINDOW), windowUpdate(MAX_WINDOW)],
    { reset: ERROR.flowControlError },
  ],
  [
    '6.9.2',
    'an initial window above 2^31-1',
    [settings([SETTING.initialWindowSize, 2 ** 31])],
    FLOW,
  ],
  ['6.10', 'DATA within a block', [begun(0), more(0), data('test', endStream)], PROTOCOL],
  ['6.10', 'CONTINUATION without a stream', [begun(), more(endHeaders, 0)], PROTOCOL],
  ['6.10', 'CONTINUATION after END_HEADERS', [get(), more(endHeaders)], PROTOCOL],
  [
    '6.10',
    'CONTINUATION after CONTINUATION with END_HEADERS',
    [begun(), more(endHeaders), more(endHeaders)],
    PROTOCOL,
  ],
  ['6.10', 'CONTINUATION after DATA', [begun(0), data('test', endStream), more(0)], PROTOCOL],
  [
    '8.1',
    'a second block that does not end the stream',
    [post(), data('test'), trailers([['x-test', 'ok']], endHeaders)],
    MALFORMED,
  ],
  ['8.2.1', 'a name in upper case', [get(1, [['X-TEST', 'ok']])], MALFORMED],
  ['8.3', 'an unknown pseudo-header field', [get(1, [[':test', 'ok']])], MALFORMED],
  ['8.3', ':status in a request', [get(1, [[':status', '200']])], MALFORMED],
  [
    '8.3',
    'a pseudo-header field in trailers',
    [post(), data('test'), trailers([[':method', 'POST']], HEAD)],
    MALFORMED,
  ],
  [
    '8.3',
    'a pseudo-header field after another field',
    [trailers([['x-test', 'ok'], ...pseudo()], HEAD)],
    MALFORMED,
  ],
  ['8.2.2', 'Connection', [get(1, [['connection', 'keep-alive']])], MALFORMED],
  ['8.2.2', 'TE other than trailers', [get(1, [['te', 'trailers, deflate']])], MALFORMED],
  ['8.3.1', 'an empty :path', [trailers(without(':path', [[':path', '']]), HEAD)], MALFORMED],
  ['8.3.1', 'no :method', [trailers(without(':method'), HEAD)], MALFORMED],
  ['8.3.1', 'no :scheme', [trailers(without(':scheme'), HEAD)], MALFORMED],
  ['8.3.1', 'no :path', [trailers(without(':path'), HEAD)], MALFORMED],
  ['8.3.1', ':method twice', [get(1, [[':method', 'GET']])], MALFORMED],
  ['8.3.1', ':scheme twice', [get(1, [[':scheme', 'http']])], MALFORMED],
  ['8.3.1', ':path twice', [get(1, [[':path', '/']])], MALFORMED],
  [
    '8.1.1',
    'DATA of another length than announced',
    [post(1, [['content-length', '1']]), data('test', endStream)],
    MALFORMED,
  ],
  [
    '8.1.1',
    'several DATA frames of another length than announced',
    [post(1, [['content-length', '1']]), data('test'), data('test', endStream)],
    MALFORMED,
  ],
  [
    '8.4',
    'PUSH_PROMISE',
    [frame(FRAME.pushPromise, endHeaders, 1, Buffer.concat([uint32(3), block]))],
    PROTOCOL,
  ],
];

function without(name: string, more: Fields = []): Fields {
  return [...pseudo().filter((field) => field[0] !== name), ...more];
}
