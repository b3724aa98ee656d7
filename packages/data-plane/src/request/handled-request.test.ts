import { NONE_PASSED } from '@gateway/http/message/message-writer';
import { expect, it } from '@jest/globals';
import { systemClock } from '@gateway/shared/clock';
import { EMPTY_TABLE } from '../routing-table/routing-table.ts';
import { inboundHeaders } from './inbound-headers.ts';
import { parseProxyTarget } from './proxy-path.ts';
import { createHandler } from './handled-request.ts';
import { finishRequest, InFlight } from './in-flight.ts';
import type { RequestContext } from './context.ts';
import type { ResponseReceiver, ResponseSink } from './upstream-response.ts';

function fails(): never {
  throw new Error('a bug');
}

it('reports the end of a request whose release throws', () => {
  const inFlight = new InFlight();
  inFlight.enter();
  let finished = 0;
  expect(() =>
    finishRequest({ finish: fails } as never, inFlight, () => void (finished += 1)),
  ).toThrow('a bug');
  expect([finished, inFlight.count]).toEqual([1, 0]);
});

it('aborts a broken response, whatever throws at its end', () => {
  let sink: ResponseSink | undefined;
  const response = { status: 200, statusText: 'OK', fields: [] };
  const aborted: string[] = [];
  const exchange = {
    head: { method: 'GET', url: '/', httpVersion: '1.1', fields: [], framing: { kind: 'none' } },
    connection: { address: '127.0.0.1', isSecure: false },
    respond: () => undefined,
    abort: (end: string) => void aborted.push(end),
  };
  const handling = {
    stages: [['none', () => undefined]],
    forward(ctx: RequestContext, receiver: ResponseReceiver) {
      sink = receiver.responded(response as never, false);
      ctx.times.enterAtOnce = fails;
    },
    passFields: () => NONE_PASSED,
    addFields: () => [],
  };
  const contextOptions = {
    clock: systemClock,
    makeId: () => 'req_1',
    trustedProxies: { texts: [] },
    trace: () => undefined,
    table: () => EMPTY_TABLE,
  };
  const options = { contextOptions, respond: { clock: systemClock }, inFlight: new InFlight() };
  createHandler(handling as never, options as never)(exchange as never, {
    inbound: inboundHeaders([]),
    target: parseProxyTarget('/', ''),
    isProxied: true,
  });
  expect(() => sink?.broken('reset')).toThrow('a bug');
  expect(aborted).toEqual(['cut_short']);
});
