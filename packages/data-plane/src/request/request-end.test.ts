import { expect, it } from '@jest/globals';
import { InFlight } from './in-flight.ts';
import { pipeResponse } from './pipe-response.ts';
import { finishRequest } from './request-end.ts';
import type { BodySink } from './upstream-response.ts';

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
  let sink: BodySink | undefined;
  let destroyed = 0;
  const upstream = { attach: (attached: BodySink) => void (sink = attached) };
  const response = { flush: () => undefined, abort: () => void (destroyed += 1) };
  pipeResponse(upstream as never, response as never, {
    sent: () => undefined,
    blocked: () => undefined,
    ended: fails,
  });
  expect(() => sink?.error(new Error('reset'))).toThrow('a bug');
  expect(destroyed).toBe(1);
});
