import { expect, it } from '@jest/globals';
import { stringify } from 'yaml';
import type { Draft } from '../../ui/form/draft.ts';
import { curlCommand } from '../../ui/form/preview/curl-command.ts';
import { NEW_SERVICE } from './service-draft.ts';
import { serviceManifest, withoutSecrets } from './service-preview.ts';

const SECRET = 'sk_live_1';
const service = (fields: Draft) => ({
  ...NEW_SERVICE,
  name: 'payments',
  upstreams: [{ url: 'https://a.example', region: null, weight: 1 }],
  ...fields,
});

it('has one upstream as a URL, and no defaults', () => {
  expect(serviceManifest('production', service({}))).toEqual({
    environment: 'production',
    services: [{ name: 'payments', url: 'https://a.example' }],
  });
  const upstreams = [
    { url: 'https://a.example', region: 'eu', weight: 1 },
    { url: 'https://b.example', region: null, weight: 2 },
  ];
  expect(serviceManifest('production', service({ upstreams }))).toMatchObject({
    services: [
      {
        upstreams: [
          { url: 'https://a.example', region: 'eu' },
          { url: 'https://b.example', weight: 2 },
        ],
      },
    ],
  });
});

const certificate = { cert_pem: 'CERT', key_pem: SECRET };

it.each([
  [
    { type: 'bearer', token: SECRET },
    { type: 'bearer', token: '${PAYMENTS_TOKEN}' },
  ],
  [
    { type: 'basic', username: SECRET, password: SECRET },
    { type: 'basic', username: '${PAYMENTS_USERNAME}', password: '${PAYMENTS_PASSWORD}' },
  ],
  [
    { type: 'header', name: 'X-Key', value: SECRET },
    { type: 'header', name: 'X-Key', value: '${PAYMENTS_VALUE}' },
  ],
  // One that is stored.
  [
    { type: 'header', header: 'x-key', set_at: '2026-03-01T00:00:00.000Z' },
    { type: 'header', name: 'x-key', value: '${PAYMENTS_VALUE}' },
  ],
])('no secret is shown: %j', (credential, declared) => {
  const draft = service({ credential, tls: { client_certificate: certificate } });
  const manifest = serviceManifest('production', draft);
  expect(manifest).toMatchObject({
    services: [
      {
        credential: declared,
        tls: { client_certificate: { cert_pem: 'CERT', key_pem: '${PAYMENTS_CLIENT_KEY}' } },
      },
    ],
  });
  const body = withoutSecrets(draft['name'], draft);
  const command = curlCommand({ method: 'POST', path: '/v1/services', body }, 'https://gw');
  expect(`${stringify(manifest)}${command}`).not.toContain(SECRET);
});

it('neither file nor command sends the token of the management API to an upstream', () => {
  const credential = { type: 'bearer', token: SECRET };
  expect(serviceManifest('production', service({ name: 'gateway', credential }))).toMatchObject({
    services: [{ credential: { token: '${GATEWAY_TOKEN_2}' } }],
  });
  const body = withoutSecrets('gateway', { credential });
  const command = curlCommand({ method: 'PATCH', path: '/v1/services/svc_1', body }, 'https://gw');
  expect(command).toContain(`"token": "'"$GATEWAY_TOKEN_2"'"`);
});
