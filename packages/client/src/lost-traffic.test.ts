import { describe, expect, it } from '@jest/globals';
import { lossText, lostTraffic, trafficText } from './lost-traffic.ts';

const versions = (...weights: [service: string, weight: number][]) =>
  weights.map(([service, weight]) => ({ name: `to-${service}`, service_id: service, weight }));
const route = (changes: object = {}) => ({
  name: 'charges',
  status: 'active' as const,
  service_id: 'a' as string | null,
  versions: null,
  match: [],
  ...changes,
});
const split = (...weights: [service: string, weight: number][]) =>
  route({ service_id: null, versions: versions(...weights) });
const ways = (way: object) => [{ hosts: [], paths: [], headers: [], ...way }];

describe('what a change of a route takes away', () => {
  it.each([
    [
      'it is disabled',
      route(),
      route({ status: 'disabled' }),
      'Requests to /v1/proxy/charges get 404 from now on.',
    ],
    [
      'it is renamed',
      route(),
      route({ name: 'pay' }),
      'Requests to /v1/proxy/charges get 404 from now on.',
    ],
    [
      'it goes to another service',
      route(),
      route({ service_id: 'b' }),
      'Service b gets all requests, Service a none.',
    ],
    [
      'a version gets all',
      split(['a', 90], ['b', 10]),
      split(['a', 0], ['b', 10]),
      'to-b gets all requests, to-a none.',
    ],
    [
      'a version is taken out',
      split(['a', 1], ['b', 1]),
      split(['b', 1]),
      'to-b gets all requests, to-a none.',
    ],
    [
      'a service gets all',
      split(['a', 1], ['b', 1]),
      route({ service_id: 'b' }),
      'Service b gets all requests, to-a none.',
    ],
    [
      'one of three goes to 0',
      split(['a', 1], ['b', 1], ['c', 1]),
      split(['a', 0], ['b', 1], ['c', 1]),
      'to-a no longer gets requests.',
    ],
    [
      'two are replaced by two',
      split(['a', 1], ['b', 1]),
      split(['c', 1], ['d', 1]),
      'to-a and to-b no longer get requests.',
    ],
    [
      'a host is taken out',
      route({ match: ways({ hosts: ['a.example', 'b.example'] }) }),
      route({ match: ways({ hosts: ['b.example'] }), service_id: 'b' }),
      'Requests to a.example/… no longer reach charges.',
    ],
    [
      'paths are taken out',
      route({ match: ways({ paths: [{ exact: '/a' }, { prefix: '/b' }, { prefix: '/b/c' }] }) }),
      route({ match: ways({ paths: [{ prefix: '/b/c' }, { exact: '/b' }] }) }),
      'Requests to /a and to /b/… no longer reach charges.',
    ],
    [
      'a header is asked for',
      route({ match: ways({ hosts: ['a.example'] }) }),
      route({ match: ways({ hosts: ['a.example'], headers: [{ name: 'X', value: '1' }] }) }),
      'Requests to a.example/… no longer reach charges.',
    ],
    [
      'many are taken out',
      route({ match: ways({ hosts: ['a', 'b', 'c', 'd', 'e'] }) }),
      route(),
      'Requests to a/… and to b/… and to c/… and to 2 more no longer reach charges.',
    ],
    [
      'it is disabled with a way',
      route({ match: ways({ headers: [{ name: 'X', value: '1' }] }) }),
      route({
        match: ways({ headers: [{ name: 'X', value: '1' }] }),
        status: 'disabled',
      }),
      'Requests to /v1/proxy/charges get 404 from now on. Requests to /… with X: 1 no longer reach charges.',
    ],
    [
      'it is renamed, and keeps its ways',
      route({ match: ways({ hosts: ['a.example'] }) }),
      route({ match: ways({ hosts: ['a.example'] }), name: 'pay' }),
      'Requests to /v1/proxy/charges get 404 from now on.',
    ],
  ])('%s', (_what, before, after, text) => {
    const lost = lostTraffic(before, after);
    expect(lost && lossText(lost, 'charges', (id) => `Service ${id}`)).toBe(text);
  });

  it.each([
    ['a share grows', split(['a', 90], ['b', 10]), split(['a', 1], ['b', 99])],
    ['a canary begins', route(), split(['a', 99], ['b', 1])],
    ['a version gets a first share', split(['a', 1], ['b', 0]), split(['a', 1], ['b', 1])],
    ['the only version becomes a service', split(['a', 1]), route()],
    [
      'it was disabled before',
      route({ status: 'disabled' }),
      route({ service_id: 'b', name: 'pay' }),
    ],
    ['it is enabled', route({ status: 'disabled' }), route()],
    ['another field changes', route(), route({ timeout_ms: 1 })],
    [
      'a way becomes wider',
      route({
        match: ways({
          hosts: ['a.b.example'],
          paths: [{ prefix: '/a/b' }],
          headers: [{ name: 'X', value: '1' }],
        }),
      }),
      route({ match: ways({ hosts: ['*.example'], paths: [{ prefix: '/a' }] }) }),
    ],
    [
      'ways are written in another order',
      route({ match: ways({ hosts: ['a', 'b'] }) }),
      route({
        match: [...ways({ hosts: ['b'] }), ...ways({ hosts: ['a'], paths: [{ prefix: '/' }] })],
      }),
    ],
  ])('nothing if %s', (_what, before, after) => {
    expect(lostTraffic(before, after)).toBeUndefined();
  });
});

it.each([
  [undefined, 'How many requests route charges had in the last hour is not known.'],
  [0, 'Route charges had no requests in the last hour.'],
  [1, 'Route charges had 1 request in the last hour.'],
  [1481, 'Route charges had 1,481 requests in the last hour.'],
])('says of %s requests: %s', (requests, text) => {
  expect(trafficText('route charges', requests)).toBe(text);
});
