import {
  AUTHORIZED,
  HOST,
  REFUSED,
  REFUSED_FOR_GOOD,
  SERVED,
  TARGET,
  text,
  type ConformanceCase,
} from '../case.ts';

function asked(target: string, lines: readonly string[]): string {
  return text(`GET ${target} HTTP/1.1`, [...lines, AUTHORIZED]);
}

/** RFC 9112 sections 3.2 and 3.2.2, RFC 9110 section 7.2. */
export const HOSTS: readonly ConformanceCase[] = [
  {
    name: 'no Host, outside of the data path',
    rule: 'RFC 9112 section 3.2',
    send: asked('/elsewhere', []),
    ...REFUSED,
  },
  {
    name: 'a folded Host',
    rule: 'RFC 9112 section 5.2',
    send: asked(TARGET, ['Host: gateway.test', ' .evil.test']),
    ...REFUSED_FOR_GOOD,
  },
  ...['[::1]:8080', '127.0.0.1', 'a.test', 'a.test:8080'].map((host) => ({
    name: `the Host ${host}`,
    rule: 'RFC 9110 section 7.2',
    send: asked(TARGET, [`Host: ${host}`]),
    client: SERVED,
    upstream: { has: [`x-forwarded-host: ${host}`] },
  })),
  {
    name: 'a Host listed in Connection',
    rule: 'RFC 9110 section 7.6.1',
    send: asked(TARGET, ['Connection: Host', HOST]),
    client: SERVED,
    upstream: { has: ['x-forwarded-host: gateway.test'] },
  },
  {
    name: 'the absolute form, whose host is used',
    rule: 'RFC 9112 section 3.2.2',
    send: asked(`http://named.test:81${TARGET}`, [HOST]),
    client: SERVED,
    upstream: { has: ['x-forwarded-host: named.test:81'] },
  },
  {
    name: 'the absolute form with a scheme in upper case',
    rule: 'RFC 3986 section 3.1',
    send: asked(`HTTP://gateway.test${TARGET}`, [HOST]),
    client: SERVED,
    upstream: { has: ['x-forwarded-host: gateway.test'] },
  },
  {
    name: 'the absolute form without a Host',
    rule: 'RFC 9112 section 3.2',
    send: asked(`http://gateway.test${TARGET}`, []),
    ...REFUSED,
  },
  {
    name: 'the absolute form with user info',
    rule: 'RFC 9110 section 4.2.4',
    send: asked(`http://user@gateway.test${TARGET}`, [HOST]),
    ...REFUSED,
  },
  {
    name: 'the absolute form with an empty host',
    rule: 'RFC 9110 section 4.2.1',
    send: asked(`http://${TARGET}`, [HOST]),
    ...REFUSED,
  },
  {
    name: 'the absolute form with an empty host and a port',
    rule: 'RFC 9110 section 4.2.1',
    send: asked(`http://:80${TARGET}`, [HOST]),
    ...REFUSED,
  },
];
