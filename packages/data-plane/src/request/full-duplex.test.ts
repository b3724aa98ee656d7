import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import {
  PAIRS,
  startStreamServer,
  streamWorld,
  type CallerProtocol,
  type StreamCaller,
  type UpstreamProtocol,
} from '../../test/stream-world.ts';

const opened = closeAfterEach();
const MINUTE_MS = 60_000;

async function setUp(protocol: CallerProtocol, upstream: UpstreamProtocol, route = {}) {
  const server = opened(await startStreamServer(upstream));
  const world = await streamWorld(opened, server, route);
  const caller = world.call(protocol);
  return { ...world, server, caller };
}

/** The record of the only request. */
const recordOf = (caller: StreamCaller, world: Awaited<ReturnType<typeof setUp>>) =>
  world.gateway.recordOf(String(caller.headers['x-request-id']));

describe.each(PAIRS)(
  'a stream in both directions, its caller over %s and its upstream over %s',
  (protocol, upstream) => {
    it('carries each message at once, for minutes, while neither side has ended', async () => {
      const world = await setUp(protocol, upstream, {
        timeout_ms: 1000,
        body_idle_timeout_ms: 30_000,
      });
      const { caller, server, pass } = world;
      caller.send('ask0;');
      const stream = await server.next();
      let asked = 'ask0;';
      let answered = '';
      for (let round = 1; round <= 20; round += 1) {
        await eventually(() => expect(stream.text).toBe(asked));
        const answer = `answer${round};`;
        answered += answer;
        stream.response.write(answer);
        await eventually(() => expect(caller.text).toBe(answered));
        await pass(MINUTE_MS / 4);
        asked += `ask${round};`;
        caller.send(`ask${round};`);
      }
      await eventually(() => expect(stream.text).toBe(asked));
      expect([stream.end, caller.end]).toEqual(['open', 'open']);
      caller.finish();
      await eventually(() => expect(stream.end).toBe('ended'));
      stream.response.end('done');
      await eventually(() => expect(caller.end).toBe('ended'));
      expect(caller.text).toBe(`${answered}done`);
      expect(await recordOf(caller, world)).toMatchObject({
        status: 200,
        outcome: 'success',
        request_bytes: asked.length,
        response_bytes: caller.text.length,
      });
    });

    it('may be ended by its caller long after the response began, and by its upstream long after that', async () => {
      const world = await setUp(protocol, upstream, { body_idle_timeout_ms: 10 * MINUTE_MS });
      const { caller, server, pass } = world;
      caller.send('a');
      const stream = await server.next();
      stream.response.write('b');
      await eventually(() => expect(caller.text).toBe('b'));
      await pass(9 * MINUTE_MS);
      caller.finish();
      await eventually(() => expect(stream.end).toBe('ended'));
      await pass(9 * MINUTE_MS);
      stream.response.end('c');
      await eventually(() => expect(caller.end).toBe('ended'));
      expect(caller.text).toBe('bc');
    });

    it('gets the head of the response before any byte of its body', async () => {
      const { caller, server } = await setUp(protocol, upstream);
      caller.send('a');
      const stream = await server.next();
      stream.response.flushHeaders();
      await eventually(() => expect(caller.status).toBe(200));
      expect([caller.text, caller.end]).toEqual(['', 'open']);
    });

    it('waits for a head that comes with the first message, long after timeout_ms', async () => {
      const { caller, server, pass } = await setUp(protocol, upstream, {
        timeout_ms: 1000,
        body_idle_timeout_ms: MINUTE_MS,
      });
      caller.send('a');
      const stream = await server.next();
      for (const text of ['b', 'c', 'd']) {
        await pass(MINUTE_MS - 1);
        caller.send(text);
        await eventually(() => expect(stream.text).toMatch(new RegExp(`${text}$`)));
      }
      expect(caller.status).toBe(0);
      stream.response.end('first');
      await eventually(() => expect(caller.end).toBe('ended'));
      expect([caller.status, caller.text]).toEqual([200, 'first']);
    });

    it('sends its first message on although a retry would need the body', async () => {
      const { caller, server } = await setUp(protocol, upstream, {
        retry: {
          on_statuses: [503],
          per_attempt_timeout_ms: null,
          backoff_ms: 0,
          unsafe_methods: 'always',
        },
      });
      caller.send('first');
      const stream = await server.next();
      await eventually(() => expect(stream.text).toBe('first'));
    });
  },
);
