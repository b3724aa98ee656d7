import { describe, expect, it } from '@jest/globals';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { Exchange } from './exchange.ts';
import type { ClientConnection } from '@gateway/http1/client/connection';
import type { ResponseHead } from '@gateway/http1/message/response-head';
import type { AttemptOutcome } from './port.ts';

const HEAD: ResponseHead = {
  ...{ status: 200, statusText: 'OK', fields: [], framing: { kind: 'none' } },
  ...{ keepAlive: true, keepAliveHintMs: undefined },
};

function setUp() {
  const clock = manualClock();
  const { promise, resolve } = Promise.withResolvers<AttemptOutcome>();
  let cuts = 0;
  let ends = 0;
  const exchange = new Exchange({
    request: { method: 'GET', path: '/', fields: [], body: null, contentLength: undefined },
    ...{ clock, timeoutMs: 100, idleTimeoutMs: 1000, settle: resolve },
    done: () => void (ends += 1),
  });
  const connection = { destroy: () => void (cuts += 1) } as unknown as ClientConnection;
  return { clock, exchange, connection, outcome: promise, counts: () => ({ cuts, ends }) };
}

describe('the time-out of an attempt', () => {
  it('takes an answer that was there when the process went on after it had stood still', async () => {
    const { clock, exchange, connection, outcome, counts } = setUp();
    exchange.started(connection);
    clock.advance(8000);
    // What has come is read in the same turn of the event loop, after the timers.
    exchange.head(HEAD);
    exchange.end();
    expect(await outcome).toEqual({ response: exchange });
    await new Promise((resolve) => setImmediate(resolve));
    expect(counts()).toEqual({ cuts: 0, ends: 1 });
  });

  it('ends one without an answer, and cuts its connection', async () => {
    const { clock, exchange, connection, outcome, counts } = setUp();
    exchange.started(connection);
    clock.advance(100);
    expect(await outcome).toEqual({ error: { name: 'attempt_timeout', sent: true } });
    expect(counts()).toEqual({ cuts: 1, ends: 1 });
  });

  it('lets nothing be sent after it', async () => {
    const { clock, outcome, counts } = setUp();
    clock.advance(100);
    expect(counts()).toEqual({ cuts: 0, ends: 1 });
    expect(await outcome).toEqual({ error: { name: 'attempt_timeout', sent: false } });
  });
});
