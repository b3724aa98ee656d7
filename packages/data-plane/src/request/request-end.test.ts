import { expect, it } from '@jest/globals';
import { finishRequest } from './handled-request.ts';
import { InFlight } from './in-flight.ts';

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
