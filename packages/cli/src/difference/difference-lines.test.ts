import { expect, it } from '@jest/globals';
import { differenceLines, type ApplyResult, type ResourceChange } from './difference-lines.ts';

const look = {
  columns: 60,
  unicode: true,
  colour: (style: string, text: string) => (text === '' ? '' : `<${style}>${text}</>`),
};
const plain = { ...look, colour: (_style: string, text: string) => text };
const nothing = { place: () => undefined, given: () => undefined };
const counts = { created: 0, updated: 1, deleted: 0, unchanged: 3 };

function resultOf(change: Partial<ResourceChange>): ApplyResult {
  return {
    environment: 'production',
    dry_run: true,
    changed: true,
    services: counts,
    routes: { ...counts, updated: 0, unchanged: 0 },
    changes: [
      {
        resource_type: 'service',
        resource_id: 'svc_1',
        name: 'pay',
        action: 'updated',
        fields: [],
        before: null,
        after: null,
        ...change,
      },
    ],
  };
}

it('colours what goes and what comes', () => {
  const fields = [{ path: '/limits/max_in_flight', before: null, after: 7 }];
  expect(differenceLines(resultOf({ fields }), look, nothing)).toEqual([
    '<yellow>~ service</> <bold>pay</>',
    '    limits.max_in_flight  <red>null</> → <green>7</>',
    '',
    '<bold>production</>: 1 to change, 3 unchanged',
  ]);
});

it('compares lists by item and texts by line', () => {
  const pem = (middle: string) => `-----BEGIN-----\n${middle}\n-----END-----\n`;
  const fields = [
    { path: '/tls/ca_pem', before: pem('old'), after: pem('new') },
    { path: '/methods', before: ['GET'], after: ['GET', 'POST'] },
    {
      path: '/upstreams',
      before: [{ url: 'http://a' }],
      after: [{ url: 'http://a' }, { url: 'http://b' }],
    },
    { path: '/url', before: 'http://a-name-that-is-long.example', after: 'http://another.example' },
  ];
  expect(differenceLines(resultOf({ fields }), plain, nothing)).toEqual([
    '~ service pay',
    '    tls.ca_pem',
    '        -----BEGIN-----',
    '      - old',
    '      + new',
    '        -----END-----',
    '    methods     [ GET ] → [ GET, POST ]',
    '    upstreams',
    '        { url: http://a }',
    '      + { url: http://b }',
    '    url',
    '      - http://a-name-that-is-long.example',
    '      + http://another.example',
    '',
    'production: 1 to change, 3 unchanged',
  ]);
});

it('shows a certificate within an object line by line', () => {
  const before = { cert_pem: '-----BEGIN-----\nold\n-----END-----\n' };
  const after = { cert_pem: '-----BEGIN-----\nnew\n-----END-----\n' };
  const path = '/tls/client_certificate';
  const shown = (old: unknown) => {
    const fields = [{ path, before: old, after }];
    return differenceLines(resultOf({ fields }), plain, nothing).slice(1, -2);
  };
  expect(shown(null)).toEqual([
    '    tls.client_certificate',
    '      + cert_pem: |',
    '      +   -----BEGIN-----',
    '      +   new',
    '      +   -----END-----',
  ]);
  expect(shown(before)).toEqual([
    '    tls.client_certificate',
    '        cert_pem: |',
    '          -----BEGIN-----',
    '      -   old',
    '      +   new',
    '          -----END-----',
  ]);
});

it('shows of a creation what the file gives, and escapes what could steer a terminal', () => {
  const after = {
    name: 'pay',
    url: 'http://a\u001b[2J',
    limits: { max_in_flight: 7, max_pending: null },
    health_path: '/healthz',
    tls: { ca_pem: 'one\ntwo\n', server_name: 'inner.example', client_certificate: null },
  };
  const given = {
    name: 'pay',
    upstreams: [],
    limits: { max_in_flight: 7 },
    tls: { ca_pem: 'one\ntwo\n', server_name: 'inner.example' },
  };
  const change = { action: 'created' as const, after };
  const background = { place: () => 'a.yaml:2:5', given: () => given };
  expect(differenceLines(resultOf(change), plain, background).slice(0, -2)).toEqual([
    '+ service pay  a.yaml:2:5',
    '    url              "http://a\\e[2J"',
    '    limits           { max_in_flight: 7 }',
    '    tls.ca_pem',
    '      one',
    '      two',
    '    tls.server_name  inner.example',
  ]);
});
