import { describe, expect, it } from '@jest/globals';
import { Socket } from 'node:net';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { createBodyBudget } from './request-body.ts';
import { ServerRequest } from '@gateway/http1/server/request';
import { ClientLeftError } from './caller.ts';
import { IncomingBody } from './incoming-body.ts';

const CONTENT_BYTES = 100;

function setUp() {
  const connection = { socket: new Socket(), holdBody: () => undefined, dropped: () => undefined };
  const framing = { kind: 'length', bytes: CONTENT_BYTES };
  const head = { method: 'POST', url: '/', httpVersion: '1.1', framing };
  const request = new ServerRequest(head as never, connection);
  const budget = createBodyBudget(CONTENT_BYTES);
  const clock = manualClock();
  const options = { bodyBudget: budget, clock, bodyIdleTimeoutMs: 1000 };
  const body = new IncomingBody(request, undefined, options);
  return { request, budget, body, deadlineMs: clock.monotonicMs() + 1000 };
}

describe('the body of a caller that has left', () => {
  it.each([
    ['kept', CONTENT_BYTES],
    ['streamed', 0],
  ])('is not waited for if it would be %s, and uses no budget', (_case, keepBytes) => {
    const { request, budget, body, deadlineMs } = setUp();
    request.received(Buffer.from('hello'));
    request.gone('left');
    expect(() => body.take({ maxBytes: 1000, keepBytes, deadlineMs })).toThrow(ClientLeftError);
    expect(budget.reserve(CONTENT_BYTES)).toBe(true);
  });

  it('rejects when the caller leaves during the wait', async () => {
    const { request, body, deadlineMs } = setUp();
    const taken = body.take({ maxBytes: 1000, keepBytes: CONTENT_BYTES, deadlineMs });
    request.received(Buffer.from('hello'));
    request.gone('left');
    await expect(taken).rejects.toBeInstanceOf(ClientLeftError);
  });
});
