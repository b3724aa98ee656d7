import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { beginStream } from '../../test/begun-stream.ts';
import { PAIRS, type CallerProtocol, type UpstreamProtocol } from '../../test/stream-world.ts';

const opened = closeAfterEach();
const PART = 'x'.repeat(256 * 1024);
/** More than all sockets and buffers on the way hold. */
const PARTS = 128;
/** What flows in the other direction meanwhile. */
const ROUNDS = 20;

const setUp = (protocol: CallerProtocol, upstream: UpstreamProtocol, reads: boolean) =>
  beginStream(opened, [protocol, upstream], { max_body_bytes: 1024 ** 3 }, { reads });

/** Writes until no more is taken for a while. Returns whether that came before all was written. */
async function fill(writable: {
  write(text: string): boolean;
  readonly writableLength: number;
}): Promise<boolean> {
  for (let part = 0; part < PARTS; part += 1) writable.write(PART);
  let last = -1;
  let same = 0;
  await eventually(() => {
    same = writable.writableLength === last ? same + 1 : 0;
    last = writable.writableLength;
    expect(same).toBeGreaterThan(10);
  });
  return last > 0;
}

describe.each(PAIRS)(
  'a stream in both directions, its caller over %s and its upstream over %s',
  (protocol, upstream) => {
    it('carries answers while the upstream does not read the request', async () => {
      const { caller, stream } = await setUp(protocol, upstream, false);
      expect(await fill(caller.body)).toBe(true);
      let answered = 'answer';
      for (let round = 0; round < ROUNDS; round += 1) {
        stream.response.write(`${round};`);
        answered += `${round};`;
        await eventually(() => expect(caller.text).toBe(answered));
      }
    });

    it('carries messages of the caller while it does not read the response', async () => {
      const { caller, stream } = await setUp(protocol, upstream, true);
      caller.stopReading();
      expect(await fill(stream.response)).toBe(true);
      let asked = 'ask';
      for (let round = 0; round < ROUNDS; round += 1) {
        caller.send(`${round};`);
        asked += `${round};`;
        await eventually(() => expect(stream.text).toBe(asked));
      }
    });

    it('ends if its caller does not read for BODY_IDLE_TIMEOUT_MS, whatever it sends', async () => {
      const { caller, stream, time } = await setUp(protocol, upstream, true);
      caller.stopReading();
      expect(await fill(stream.response)).toBe(true);
      await eventually(() => {
        caller.send('.');
        time.advance(1000);
        expect(stream.isGone).toBe(true);
      });
    });

    it('with many small messages in each direction has all of them counted', async () => {
      const { caller, stream, record } = await setUp(protocol, upstream, true);
      const count = 10_000;
      const before = process.memoryUsage().arrayBuffers;
      let most = 0;
      for (let sent = 0; sent < count; sent += 100) {
        caller.send('12345678'.repeat(100));
        stream.response.write('1234'.repeat(100));
        const asked = 'ask'.length + (sent + 100) * 8;
        await eventually(() => expect(stream.text).toHaveLength(asked));
        most = Math.max(most, process.memoryUsage().arrayBuffers - before);
      }
      caller.finish();
      await eventually(() => expect(stream.end).toBe('ended'));
      stream.response.end();
      await eventually(() => expect(caller.end).toBe('ended'));
      const recorded = await record();
      expect(recorded).toMatchObject({
        outcome: 'success',
        request_bytes: 'ask'.length + count * 8,
        response_bytes: 'answer'.length + count * 4,
      });
      const { timing } = recorded;
      const parts = [
        timing.gateway_ms,
        timing.receiving_ms,
        timing.waiting_ms,
        timing.upstream_ms,
        timing.sending_ms,
      ];
      const sum = parts.reduce<number>((total, ms) => total + Math.round((ms ?? NaN) * 1000), 0);
      expect(sum).toBe(Math.round(timing.total_ms * 1000));
      expect(most).toBeLessThan(32 * 1024 * 1024);
    });

    it('is a conversation until its caller has ended its request, and then a wait for the upstream', async () => {
      const { caller, stream, record, pass } = await setUp(protocol, upstream, true);
      await pass(7000);
      caller.finish();
      await eventually(() => expect(stream.end).toBe('ended'));
      await pass(3000);
      stream.response.end();
      await eventually(() => expect(caller.end).toBe('ended'));
      const { timing } = await record();
      expect(timing).toMatchObject({ receiving_ms: 7000, upstream_ms: 3000, total_ms: 10_000 });
    });
  },
);
