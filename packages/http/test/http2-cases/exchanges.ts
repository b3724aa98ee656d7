import { FLAG, FRAME, SETTING } from '../../src/http2/protocol.ts';
import {
  data,
  fieldBlock,
  frame,
  get,
  HEAD,
  post,
  pseudo,
  reset,
  settings,
  uint32,
  windowUpdate,
} from '../http2-frames.ts';
import { ANSWER, type Case } from './case.ts';

const { endHeaders, endStream, padded } = FLAG;
const block = fieldBlock(pseudo());
const priority = (parent: number, weight: number, stream = 1) =>
  frame(FRAME.priority, 0, stream, Buffer.concat([uint32(parent), Buffer.from([weight])]));
const EXCLUSIVE = 2 ** 31;
const goAway = (code: number) => frame(FRAME.goAway, 0, 0, uint32(0, code));
const ping = (text: string) => frame(FRAME.ping, 0, 0, Buffer.from(text.padEnd(8)));
const NO_WINDOW = settings([SETTING.initialWindowSize, 0]);

/** A block that goes on: its frames. */
function continued(...cuts: readonly number[]): Buffer[] {
  const ends = [...cuts, block.length];
  return ends.map((end, index) => {
    const part = block.subarray(ends[index - 1] ?? 0, end);
    const last = index === cuts.length ? endHeaders : 0;
    return index === 0
      ? frame(FRAME.headers, endStream | last, 1, part)
      : frame(FRAME.continuation, last, 1, part);
  });
}

/** Frames that a server must accept: those of h2spec's `generic` tests and of its tests of RFC 9113 without errors. */
export const EXCHANGES: readonly Case[] = [
  ['3.4', 'a client preface', [], 'settings'],
  [
    '3.4',
    'a client preface with a window',
    [settings([SETTING.initialWindowSize, 65_535])],
    'settings',
  ],
  ['5.1', 'PRIORITY on an idle stream', [priority(0, 255)], 'alive'],
  [
    '5.1',
    'WINDOW_UPDATE on a half-closed (remote) stream',
    [NO_WINDOW, get(), windowUpdate(1)],
    { data: [1] },
  ],
  [
    '5.1',
    'PRIORITY on a half-closed (remote) stream',
    [NO_WINDOW, get(), priority(0, 255), windowUpdate(1)],
    { data: [1] },
  ],
  ['5.1', 'RST_STREAM on a half-closed (remote) stream', [get(), reset()], 'alive'],
  [
    '5.1',
    'PRIORITY on a closed stream',
    [get(), (client) => client.ended(), priority(0, 255)],
    'alive',
  ],
  ['6.1', 'DATA', [post(), data('test', endStream)], ANSWER],
  ['6.1', 'several DATA frames', [post(), data('test'), data('test', endStream)], ANSWER],
  [
    '6.1',
    'DATA with padding',
    [post(), frame(FRAME.data, endStream | padded, 1, Buffer.from('\x05test\0\0\0\0\0', 'latin1'))],
    ANSWER,
  ],
  ['6.2', 'HEADERS', [get()], ANSWER],
  [
    '6.2',
    'HEADERS with padding',
    [
      frame(
        FRAME.headers,
        HEAD | padded,
        1,
        Buffer.concat([Buffer.from([8]), block, Buffer.alloc(8)]),
      ),
    ],
    ANSWER,
  ],
  [
    '6.2',
    'HEADERS with a priority',
    [
      frame(
        FRAME.headers,
        HEAD | FLAG.priority,
        1,
        Buffer.concat([uint32(0), Buffer.from([255]), block]),
      ),
    ],
    ANSWER,
  ],
  ['6.3', 'PRIORITY with the weight 1', [priority(0, 0), get()], ANSWER],
  ['6.3', 'PRIORITY with the weight 256', [priority(0, 255), get()], ANSWER],
  ['6.3', 'PRIORITY with a dependency', [priority(1, 0, 3), get()], ANSWER],
  ['6.3', 'PRIORITY that is exclusive', [priority(EXCLUSIVE, 0), get()], ANSWER],
  ['6.3', 'PRIORITY of an idle stream, and a lower stream', [priority(0, 255, 3), get()], ANSWER],
  ['6.4', 'RST_STREAM', [post(), reset()], 'alive'],
  [
    '6.5',
    'SETTINGS',
    [
      settings(
        [SETTING.headerTableSize, 4096],
        [SETTING.enablePush, 1],
        [SETTING.maxConcurrentStreams, 100],
        [SETTING.initialWindowSize, 65_535],
        [SETTING.maxFrameSize, 16_384],
        [SETTING.maxHeaderListSize, 100],
      ),
    ],
    'acknowledged',
  ],
  ['6.7', 'PING', [ping('h2spec')], 'alive'],
  ['6.8', 'GOAWAY', [goAway(0)], 'alive'],
  ['6.9', 'WINDOW_UPDATE of the connection', [windowUpdate(1, 0)], 'alive'],
  ['6.9', 'WINDOW_UPDATE of a stream', [get(), windowUpdate(1)], ANSWER],
  ['6.10', 'a CONTINUATION frame', continued(5), ANSWER],
  ['6.10', 'several CONTINUATION frames', continued(5, 10), ANSWER],
  ['8.1', 'GET', [get()], ANSWER],
  ['8.1', 'HEAD', [frame(FRAME.headers, HEAD, 1, fieldBlock(pseudo('HEAD')))], ANSWER],
  ['8.1', 'POST', [post(), data('test', endStream)], ANSWER],
  [
    '8.1',
    'POST with trailers',
    [
      post(1, [['trailer', 'x-test']]),
      data('test'),
      frame(FRAME.headers, HEAD, 1, fieldBlock([['x-test', 'ok']])),
    ],
    ANSWER,
  ],
  ['4.1', 'a frame of an unknown type', [frame(0x16, 0, 0, Buffer.alloc(8))], 'alive'],
  ['4.1', 'an undefined flag', [frame(FRAME.ping, 0x16, 0, Buffer.alloc(8))], 'alive'],
  [
    '4.1',
    'the reserved bit of the stream id',
    [Buffer.from('000008061680000000'.concat('00'.repeat(8)), 'hex')],
    'alive',
  ],
  ['4.2', 'DATA of 2^14 bytes', [post(), data('x'.repeat(16_384), endStream)], ANSWER],
  ['5.5', 'an extension frame', [frame(0x16, 0, 0, Buffer.alloc(8))], 'alive'],
  ['6.5.2', 'an unknown setting', [settings([0xff, 1])], 'alive'],
  [
    '6.5.3',
    'the initial window twice',
    [settings([SETTING.initialWindowSize, 100], [SETTING.initialWindowSize, 1]), get()],
    { data: [1] },
  ],
  ['6.5.3', 'SETTINGS are acknowledged', [settings([SETTING.enablePush, 0])], 'acknowledged'],
  ['6.7', 'PING is acknowledged', [ping('h2spec')], 'alive'],
  [
    '6.7',
    'PING with ACK is not answered',
    [frame(FRAME.ping, FLAG.ack, 0, Buffer.from('invalid\0')), ping('h2spec')],
    'alive',
  ],
  [
    '6.9.1',
    'an initial window of 1',
    [settings([SETTING.initialWindowSize, 1]), get()],
    { data: [1] },
  ],
  [
    '6.9.2',
    'an initial window that changes after HEADERS',
    [NO_WINDOW, get(), settings([SETTING.initialWindowSize, 1])],
    { data: [1] },
  ],
  [
    '6.9.2',
    'a window that becomes negative',
    [
      settings([SETTING.initialWindowSize, 3]),
      get(),
      (client) => client.frame(FRAME.data, 1),
      settings([SETTING.initialWindowSize, 2]),
      windowUpdate(2),
    ],
    { data: [3, 1] },
  ],
  ['6.10', 'CONTINUATION frames with more fields', continued(20, 30), ANSWER],
  ['7', 'GOAWAY with an unknown code', [goAway(0xff)], 'alive'],
  ['7', 'RST_STREAM with an unknown code', [post(), reset(0xff)], 'alive'],
];
