import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { eventually } from '@gateway/shared/test/eventually';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { headers, type NatsConnection } from '@nats-io/nats-core';
import { captureLog } from '../../test/captured-log.ts';
import { openOwnNats, type OwnNats } from '../../test/own-nats.ts';
import { AckedPublisher, Tickets } from './acked-publisher.ts';
import { linkNats } from './nats-link.ts';

const SUBJECT = 'values.a';
const TIMEOUT_MS = 2000;
/** Of the NatsAwayError. */
const LOST = 'the connection to NATS was lost';

let nats: OwnNats;
beforeAll(async () => void (nats = await openOwnNats()));
afterAll(() => nats.close());

/** A publisher, and the payloads that a subscriber receives and does not answer. The clock does not run. */
async function startPublisher() {
  const server = await nats.startServer();
  const connecting = nats.connect(server.url);
  const link = linkNats(connecting, captureLog().log);
  await eventually(() => expect(link.connection).toBeDefined());
  const received: string[] = [];
  const subscriber = await nats.connect(server.url);
  const callback = (_error: Error | null, message: { string(): string }) => {
    received.push(message.string());
  };
  subscriber.subscribe(SUBJECT, { callback });
  await subscriber.flush();
  const clock = manualClock();
  const connection = await connecting;
  return { server, link, clock, connection, subscriber, received };
}

/** A link whose connection stays up, but is said to be lost when the test says so. */
function losableLink(connection: NatsConnection) {
  let up: NatsConnection | undefined = connection;
  const listeners: (() => void)[] = [];
  return {
    get connection() {
      return up;
    },
    jetstream: undefined,
    losses: 0,
    onChange: (listener: () => void) => {
      listeners.push(listener);
      return () => undefined;
    },
    change(to: NatsConnection | undefined) {
      up = to;
      for (const listener of listeners) listener();
    },
  };
}

describe('a publication', () => {
  it('is rejected as soon as the connection is lost, and not only after its timeout', async () => {
    const { server, link, clock, received } = await startPublisher();
    const publisher = new AckedPublisher(link, clock);
    const published = publisher.publish(SUBJECT, 'sent', headers(), TIMEOUT_MS);
    const rejected = expect(published).rejects.toThrow(LOST);
    await eventually(() => expect(received).toEqual(['sent']));
    await server.stop();
    await rejected;
    const later = publisher.publish(SUBJECT, 'later', headers(), TIMEOUT_MS);
    await expect(later).rejects.toThrow('NATS is away');
  });

  it('that was not sent before the loss is rejected and never sent, also after a reconnect', async () => {
    const { clock, connection, subscriber, received } = await startPublisher();
    const link = losableLink(connection);
    const publisher = new AckedPublisher(link, clock);
    const unsent = publisher.publish(SUBJECT, 'unsent', headers(), TIMEOUT_MS);
    link.change(undefined);
    link.change(connection);
    const next = publisher.publish(SUBJECT, 'next', headers(), TIMEOUT_MS);
    await expect(unsent).rejects.toThrow(LOST);
    await setImmediate();
    await connection.flush();
    await subscriber.flush();
    expect(received).toEqual(['next']);
    // Nothing answers; the timeout ends it.
    const timedOut = expect(next).rejects.toThrow('timeout');
    clock.advance(TIMEOUT_MS);
    await timedOut;
  });
});

describe('tickets', () => {
  it('give each value back once, whatever the order, and never to an old ticket', () => {
    const step = fc.oneof(
      fc.constant('add' as const),
      fc.constant('take all' as const),
      fc.nat({ max: 30 }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
        const tickets = new Tickets<number>();
        const issued: string[] = [];
        const waiting = new Map<string, number>();
        for (const one of steps) {
          if (one === 'add') {
            const ticket = tickets.add(issued.length);
            expect(issued).not.toContain(ticket);
            waiting.set(ticket, issued.length);
            issued.push(ticket);
          } else if (one === 'take all') {
            expect(tickets.takeAll().toSorted((a, b) => a - b)).toEqual([...waiting.values()]);
            waiting.clear();
          } else {
            const ticket = issued[one] ?? 'none';
            expect(tickets.get(ticket)).toBe(waiting.get(ticket));
            expect(tickets.take(ticket)).toBe(waiting.get(ticket));
            waiting.delete(ticket);
          }
        }
      }),
    );
  });

  it.each(['', '-', '0', '0-', '-1', '0-1x', 'x-1', '1-1', '0-2'])(
    'have no value for %p',
    (text) => {
      const tickets = new Tickets<string>();
      expect(tickets.add('first')).toBe('0-1');
      expect(tickets.take(text)).toBeUndefined();
      expect(tickets.take('0-1')).toBe('first');
    },
  );
});
