import { describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { manualClock } from '../../test/manual-clock.ts';
import type { Rejected } from './partial-success.ts';
import { SpanQueue } from './span-queue.ts';
import type { Span } from './span.ts';

const span = (name: string): Span => ({
  name,
  kind: 'server',
  traceId: 'a'.repeat(32),
  spanId: 'b'.repeat(16),
  parentSpanId: undefined,
  startMs: 0,
  durationMs: 1,
  failed: false,
  attributes: {},
});

/** A queue of 6 spans, in batches of 2, whose sends the test settles. */
function setUp() {
  const clock = manualClock(0);
  const lines: string[] = [];
  const log = pino(
    {},
    { write: (line) => void lines.push((JSON.parse(line) as { msg: string }).msg) },
  );
  const sent: string[][] = [];
  let settle: (result?: Error | Rejected) => void = () => undefined;
  const queue = new SpanQueue({
    send: (spans) => {
      sent.push(spans.map(({ name }) => name));
      return new Promise((resolve, reject) => {
        settle = (result) => {
          if (result instanceof Error) reject(result);
          else resolve(result);
        };
      });
    },
    maxSpans: 6,
    maxBatchSpans: 2,
    delayMs: 1000,
    clock,
    log,
  });
  const end = async (result?: Error | Rejected) => {
    settle(result);
    await new Promise(setImmediate);
  };
  return { clock, queue, sent, lines, end };
}

describe('a queue of spans', () => {
  it('counts the spans that the receiver rejects as lost, and logs the first of them', async () => {
    const { queue, lines, end } = setUp();
    for (const rejected of [
      { count: 1, reason: 'too old' },
      { count: 99, reason: 'too old' },
      undefined,
      { count: 1, reason: 'too large' },
    ]) {
      queue.add([span('a'), span('b')]);
      await end(rejected);
    }
    expect([queue.exported, queue.rejected, queue.failed]).toEqual([4, 4, 0]);
    expect(lines).toEqual(['spans rejected by the receiver', 'spans rejected by the receiver']);
  });

  it('sends a full batch at once, and a smaller one after its delay', async () => {
    const { clock, queue, sent, end } = setUp();
    queue.add([span('a')]);
    expect(sent).toEqual([]);
    queue.add([span('b')]);
    expect(sent).toEqual([['a', 'b']]);
    queue.add([span('c')]);
    await end();
    expect(sent).toHaveLength(1);
    clock.advance(1000);
    expect(sent).toEqual([['a', 'b'], ['c']]);
    await end();
    expect([queue.exported, queue.dropped, queue.failed]).toEqual([3, 0, 0]);
  });

  it('drops the spans of a request that does not fit whole, and counts them', async () => {
    const { queue, sent, end } = setUp();
    queue.add([span('a'), span('b')]);
    for (const name of ['c', 'd', 'e', 'f', 'g']) queue.add([span(name)]);
    queue.add([span('h'), span('i')]);
    expect(queue.dropped).toBe(2);
    queue.add([span('j')]);
    queue.add([span('k')]);
    expect(queue.dropped).toBe(3);
    for (let batch = 0; batch < 4; batch += 1) await end();
    expect(sent.flat()).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'j']);
    expect(queue.exported).toBe(8);
  });

  it('counts what a receiver does not take, and logs the first failure and the recovery', async () => {
    const { queue, lines, end } = setUp();
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) queue.add([span(name)]);
    await end(new Error('refused'));
    await end(new Error('refused'));
    expect(lines).toEqual(['span export failed']);
    await end();
    expect(lines).toEqual(['span export failed', 'span export recovered']);
    expect([queue.exported, queue.failed]).toEqual([2, 4]);
  });

  it('sends what waits when it is closed', async () => {
    const { queue, sent, end } = setUp();
    queue.add([span('a')]);
    const closed = queue.close(1000);
    await end();
    await closed;
    expect(sent).toEqual([['a']]);
  });

  it('gives up when the time for that is over', async () => {
    const { clock, queue, lines } = setUp();
    for (const name of ['a', 'b', 'c']) queue.add([span(name)]);
    const closed = queue.close(1000);
    clock.advance(1000);
    await closed;
    expect(lines).toEqual(['spans not exported before the stop']);
  });
});
