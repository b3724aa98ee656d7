import { describe, expect, it } from '@jest/globals';
import { bodyTimesText, deadlineText } from './explained-times.ts';

const timeouts = {
  ...{ timeout_ms: 1000, caller_timeout_ms: null, streaming: false, max_message_bytes: null },
  ...{ per_attempt_timeout_ms: null, connect_timeout_ms: 100, body_idle_timeout_ms: 500 },
  ...{ max_upload_ms: 9000, min_upload_bytes_per_second: 1024 },
};

describe('the time-outs of an explanation', () => {
  it.each([
    [{}, '1 s in total, no limit per attempt'],
    [{ per_attempt_timeout_ms: 200 }, '1 s in total, 200 ms per attempt'],
    [{ caller_timeout_ms: 2000 }, '1 s in total, no limit per attempt'],
    [
      { caller_timeout_ms: 300 },
      '300 ms in total (grpc-timeout; the route allows 1 s), no limit per attempt',
    ],
    [{ streaming: true }, '1 s until it is sent, no limit per attempt'],
    [
      { streaming: true, caller_timeout_ms: 5000 },
      '1 s until it is sent, 5 s in total (grpc-timeout), no limit per attempt',
    ],
  ])('%j: %s', (change, text) => {
    expect(deadlineText({ ...timeouts, ...change })).toBe(text);
  });

  it.each([
    [{}, 'upload 9 s, 1 KiB/s or more; 500 ms of silence'],
    [{ max_upload_ms: null, min_upload_bytes_per_second: null }, '500 ms of silence'],
    [
      { streaming: true, max_message_bytes: 4096 },
      '500 ms of silence in both directions, messages up to 4 KiB',
    ],
  ])('%j: %s', (change, text) => {
    expect(bodyTimesText({ ...timeouts, ...change })).toBe(text);
  });
});
