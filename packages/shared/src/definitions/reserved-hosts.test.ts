import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { reservedHostOf, reservedHostsVariable, withoutReserved } from './reserved-hosts.ts';

const RESERVED = ['gateway.example.com', '*.ops.example.com'];

describe('a host of a route', () => {
  it.each([
    ['gateway.example.com', 'gateway.example.com'],
    ['*.example.com', 'gateway.example.com'],
    ['*.com', 'gateway.example.com'],
    ['a.ops.example.com', '*.ops.example.com'],
    ['a.b.ops.example.com', '*.ops.example.com'],
    ['*.ops.example.com', '*.ops.example.com'],
    ['*.a.ops.example.com', '*.ops.example.com'],
    ['ops.example.com', undefined],
    ['api.example.com', undefined],
    ['*.gateway.example.com', undefined],
    ['a.gateway.example.com', undefined],
    ['xgateway.example.com', undefined],
    ['example.com', undefined],
  ])('%s overlaps with %s', (host, reserved) => {
    expect(reservedHostOf(host, RESERVED)).toBe(reserved);
  });

  it('overlaps with a reserved one exactly if some host meets both', () => {
    const label = fc.constantFrom('a', 'b');
    const name = fc.array(label, { minLength: 1, maxLength: 3 }).map((labels) => labels.join('.'));
    const pattern = fc.oneof(
      name,
      name.map((one) => `*.${one}`),
    );
    const meets = (host: string, one: string) =>
      one.startsWith('*') ? host.endsWith(one.slice(1)) : host === one;
    const below = ['', 'a.', 'b.', 'a.a.', 'a.b.', 'b.a.', 'b.b.'];
    fc.assert(
      fc.property(pattern, pattern, (one, other) => {
        const names = [one, other].map((text) => text.replace('*.', ''));
        const hosts = names.flatMap((end) => below.map((start) => start + end));
        const overlap = hosts.some((host) => meets(host, one) && meets(host, other));
        expect(reservedHostOf(one, [other]) !== undefined).toBe(overlap);
      }),
    );
  });
});

it('a way loses its reserved hosts, and is left out with the last of them', () => {
  const ways = [
    { hosts: ['gateway.example.com', 'api.example.com'], paths: [] },
    { hosts: ['*.com', 'x.ops.example.com'], paths: [] },
    { hosts: [], paths: [{ prefix: '/a' }] },
  ];
  expect(withoutReserved(ways, RESERVED)).toEqual([
    { hosts: ['api.example.com'], paths: [] },
    ways[2],
  ]);
  expect(withoutReserved(ways, [])).toBe(ways);
});

describe('RESERVED_HOSTS', () => {
  it('is a list of hosts in any case', () => {
    expect(reservedHostsVariable.parse(' Gateway.Example.com, *.ops.test ,localhost')).toEqual([
      'gateway.example.com',
      '*.ops.test',
      'localhost',
    ]);
  });

  it.each(['gateway.test:8080', 'https://gateway.test', '*', 'a.*.test', 'a_b.test'])(
    'refuses %s',
    (text) => {
      expect(reservedHostsVariable.safeParse(text).success).toBe(false);
    },
  );
});
