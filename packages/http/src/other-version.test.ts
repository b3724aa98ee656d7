import { describe, expect, it } from '@jest/globals';
import { beginsAsHttp1, beginsAsHttp2 } from './other-version.ts';

const SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
const GOAWAY = Buffer.from([0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);

describe('what a server sends first', () => {
  it.each([
    ['settings', SETTINGS, true],
    ['settings with a value', Buffer.from([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 100]), true],
    ['the end of the connection', GOAWAY, true],
    ['a part of a frame', SETTINGS.subarray(0, 8), false],
    ['a frame of a stream', Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 1]), false],
    ['data', Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0]), false],
    ['a response of HTTP/1.1', Buffer.from('HTTP/1.1 200 OK\r\n\r\n'), false],
    ['nothing', Buffer.alloc(0), false],
  ])('is HTTP/2 or not: %s', (_name, bytes, expected) => {
    expect(beginsAsHttp2(bytes)).toBe(expected);
  });

  it.each([
    ['HTTP/1.1 400 Bad Request\r\n\r\n', true],
    ['HTTP/1.0 505 ', true],
    ['HTTP/2', false],
    ['SSH-2.0-server\r\n', false],
    ['', false],
  ])('is HTTP/1 or not: %j', (text, expected) => {
    expect(beginsAsHttp1(Buffer.from(text))).toBe(expected);
  });
});
