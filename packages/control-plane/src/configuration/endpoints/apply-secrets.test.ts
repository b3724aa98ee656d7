import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestAuthority } from '@gateway/shared/test/certificates';
import { faultsOf, newAppliedEnvironment, summaryOf } from '../../../test/applied-environment.ts';
import { startTestApi, type TestApi } from '../../../test/api.ts';

let api: TestApi;
beforeAll(async () => void (api = await startTestApi()));
afterAll(() => api.close());

describe('secrets of an apply', () => {
  const authority = createTestAuthority('upstreams');
  const { certPem, keyPem } = authority.issue(['client.test']);
  const pair = { cert_pem: certPem, key_pem: keyPem };
  const other = authority.issue(['other.test']);
  const withSecret = (value: string) => ({
    services: [
      {
        name: 'pay',
        url: 'https://pay.example',
        credential: { type: 'header', name: 'X-Key', value },
        tls: { client_certificate: pair },
      },
    ],
  });

  it('are never shown, and a secret that differs is named', async () => {
    const { apply, changes } = await newAppliedEnvironment(api);
    const first = await apply(withSecret('marker-one'));
    const same = await apply(withSecret('marker-one'));
    expect(summaryOf(same)).toMatchObject({ changed: false });
    const second = await apply(withSecret('marker-two'));
    expect(second.json.data?.['changes']).toMatchObject([
      {
        name: 'pay',
        fields: [{ path: '/credential', before: null, after: null, secret_changed: true }],
      },
    ]);
    const [service] = withSecret('marker-two').services;
    const tls = { client_certificate: { cert_pem: other.certPem, key_pem: other.keyPem } };
    const third = await apply({ services: [{ ...service, tls }] });
    const path = '/tls/client_certificate';
    expect(third.json.data?.['changes']).toMatchObject([
      {
        fields: [
          { path: `${path}/cert_pem`, before: certPem, after: other.certPem },
          { path, before: null, after: null, secret_changed: true },
        ],
      },
    ]);
    for (const { text } of [first, same, second, third]) {
      expect(text).not.toContain('marker');
      expect(text).not.toContain('sealed');
      expect(text).not.toContain('PRIVATE KEY');
    }
    expect(await changes()).toEqual(['service.created', 'service.updated', 'service.updated']);
  });

  it('are references in an export, and a reference keeps the secret', async () => {
    const { apply, dump, changes } = await newAppliedEnvironment(api);
    await apply(withSecret('marker-one'));
    const exported = await dump();
    expect(exported).toMatchObject({
      services: [
        {
          credential: { type: 'header', name: 'x-key', value: '${PAY_VALUE}' },
          tls: { client_certificate: { cert_pem: certPem, key_pem: '${PAY_CLIENT_KEY}' } },
        },
      ],
    });
    expect(summaryOf(await apply({ ...exported, prune: true }))).toMatchObject({ changed: false });
    expect(await changes()).toEqual(['service.created']);
    const key_pem = '${PAY_CLIENT_KEY}';
    for (const [field, value, at] of [
      ['credential', { type: 'header', name: 'X-Other', value: '${PAY_VALUE}' }, 'credential'],
      ['credential', { type: 'bearer', token: '${PAY_TOKEN}' }, 'credential'],
      [
        'tls',
        { client_certificate: { cert_pem: other.certPem, key_pem } },
        'tls/client_certificate/key_pem',
      ],
    ] as const) {
      const services = [{ name: 'pay', url: 'https://pay.example', [field]: value }];
      expect(faultsOf(await apply({ services }))).toMatchObject([{ path: `/services/0/${at}` }]);
    }
    expect(await changes()).toEqual(['service.created']);
    const empty = await newAppliedEnvironment(api);
    const refused = await empty.apply({ ...exported, environment: empty.name });
    expect(faultsOf(refused)).toEqual([
      {
        path: '/services/0/credential',
        message:
          'service pay: is a reference that was not replaced, and there is no such credential',
      },
    ]);
  });

  it('are not sent to a new address by a reference, and the answer says whose is needed', async () => {
    const { apply, dump, changes } = await newAppliedEnvironment(api);
    await apply(withSecret('marker-one'));
    const exported = (await dump()) as { services: object[] };
    const services = [{ ...exported.services[0], url: 'https://evil.example' }];
    const refused = await apply({ ...exported, services });
    expect(faultsOf(refused)).toEqual([
      {
        path: '/services/0/credential',
        message:
          'service pay: the stored one is not sent to a new address; give the credential of pay again, for https://evil.example',
      },
    ]);
    const [service] = withSecret('marker-one').services;
    const given = await apply({ services: [{ ...service, url: 'https://other.example' }] });
    expect(given.status).toBe(200);
    expect(await changes()).toEqual(['service.created', 'service.updated']);
  });

  it.each([
    [
      'a key without its certificate',
      'tls',
      { client_certificate: { key_pem: '${KEY}' } },
      [['client_certificate/cert_pem', 'is required']],
    ],
    [
      'an unknown field of a certificate',
      'tls',
      { client_certificate: { certificate_pem: certPem, key_pem: '${KEY}' } },
      [
        ['client_certificate/cert_pem', 'is required'],
        ['client_certificate/certificate_pem', 'is not a known field'],
      ],
    ],
    [
      'an unknown field of a credential',
      'credential',
      { type: 'header', name: 'X-Key', value: '${VALUE}', marker: 'marker' },
      [['type', 'header takes only name and value']],
    ],
    [
      'a header without its name',
      'credential',
      { type: 'header', value: '${VALUE}' },
      [['name', 'is required']],
    ],
    [
      'one of two secrets',
      'credential',
      { type: 'basic', username: 'marker', password: '${PASSWORD}' },
      [['username', 'is given, but the other secret is a reference; give both, or neither']],
    ],
  ])('are checked beside a reference: %s', async (_what, field, value, faults) => {
    const { apply, changes } = await newAppliedEnvironment(api);
    const expected = faults.map(([path, message]) => ({
      path: `/services/0/${field}/${path ?? ''}`,
      message: `service pay: ${message ?? ''}`,
    }));
    const document = { services: [{ name: 'pay', url: 'https://pay.example', [field]: value }] };
    const created = await apply(document);
    expect(faultsOf(created)).toEqual(expected);
    await apply(withSecret('marker-one'));
    const updated = await apply(document);
    expect(faultsOf(updated)).toEqual(expected);
    expect(updated.text).not.toContain('marker');
    expect(await changes()).toEqual(['service.created']);
  });

  it('are removed if the document leaves them out', async () => {
    const { apply, dump } = await newAppliedEnvironment(api);
    await apply(withSecret('marker-one'));
    await apply({ services: [{ name: 'pay', url: 'https://pay.example' }] });
    expect((await dump())['services']).toEqual([{ name: 'pay', url: 'https://pay.example' }]);
  });
});
