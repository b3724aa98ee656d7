import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { systemRandom } from '@gateway/shared/ids';
import { CredentialVault } from '@gateway/shared/secrets/upstream-credential';
import type { SnapshotRoute, SnapshotService } from '@gateway/shared/snapshot/schema';
import { openSnapshot, sealSnapshotText } from '@gateway/shared/snapshot/signed-snapshot';
import { createTestAuthority } from '@gateway/shared/test/certificates';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { startUpstream } from '@gateway/shared/test/upstream';
import { startTestDataPath } from '../../test/data-path.ts';

const opened = closeAfterEach();
const keys = [{ id: 'k1', bytes: randomBytes(32) }];
const vault = new CredentialVault(keys, systemRandom);
const authority = createTestAuthority('clients');
const { certPem, keyPem } = authority.issue(['gateway']);
const otherKeyPem = authority.issue(['other']).keyPem;

/** What ends the line of a header field, or a field of a text protocol. */
const LINES = 'x\r\ny: z';
const HUGE = Number.MAX_SAFE_INTEGER;

/** A gateway whose route `test` or service gets other fields. */
async function setUp() {
  const upstream = opened(await startUpstream());
  const environment = { GATEWAY_MASTER_KEYS: `k1:${keys[0]?.bytes.toString('base64')}` };
  const gateway = opened(await startTestDataPath({ upstreams: [upstream.url] }, { environment }));
  const base = testSnapshot({ upstreams: [upstream.url] }, gateway.token);
  const [route] = base.routes;
  const [service] = base.services;
  if (route === undefined || service === undefined) throw new Error('the snapshot has a route');
  let version = base.version;
  const use = async (fields: { readonly route?: object; readonly service?: object }) => {
    version += 1;
    const services = [{ ...service, ...fields.service }];
    const routes = [{ ...route, ...fields.route }];
    const text = JSON.stringify({ ...base, version, services, routes });
    const name = { environment: 'production', version, object: 'o' };
    const { pointer, bytes } = await sealSnapshotText(text, name, keys);
    await gateway.use(await openSnapshot(pointer, bytes));
  };
  return { gateway, use, route, service };
}

type OfRoute = Readonly<Record<string, (route: SnapshotRoute) => object>>;
type OfService = Readonly<Record<string, (service: SnapshotService) => object>>;

const UNUSABLE_ROUTES: OfRoute = {
  'a method that ends the line of `Allow`': () => ({ methods: ['GET', LINES] }),
  'an empty method': () => ({ methods: ['GET', ''] }),
};

const clientCertificate = (cert_pem: string, key: string, serviceId: string) => ({
  tls: { client_certificate: { cert_pem, key: vault.sealClientKey(key, serviceId) } },
});

const UNUSABLE_SERVICES: OfService = {
  'a check path that ends the request line': ({ health_check }) => ({
    health_check: { ...health_check, path: `/${LINES}` },
  }),
  'a check path that is not one': ({ health_check }) => ({
    health_check: { ...health_check, path: 'healthz' },
  }),
  'a root certificate that is none': () => ({ tls: { ca_pem: 'x' } }),
  'a client certificate that is none': ({ id }) => clientCertificate('x', keyPem, id),
  'a client key that is none': ({ id }) => clientCertificate(certPem, 'x', id),
  'the client key of another certificate': ({ id }) => clientCertificate(certPem, otherKeyPem, id),
};

const HARMLESS_ROUTES: OfRoute = {
  id: () => ({ id: LINES }),
  timeout_ms: () => ({ timeout_ms: HUGE }),
  retry_count: () => ({ retry_count: HUGE }),
  limit: ({ rate_limit }) => ({ rate_limit: { ...rate_limit, limit: HUGE } }),
  window: ({ rate_limit }) => ({ rate_limit: { ...rate_limit, window_seconds: HUGE } }),
  on_statuses: ({ retry }) => ({ retry: { ...retry, on_statuses: [-1, HUGE] } }),
  backoff_ms: ({ retry }) => ({ retry: { ...retry, backoff_ms: HUGE } }),
  attempt: ({ retry }) => ({ retry: { ...retry, per_attempt_timeout_ms: HUGE } }),
  regions: () => ({ regions: [LINES, ''] }),
  max_body_bytes: () => ({ max_body_bytes: HUGE }),
  repeatable_statuses: ({ idempotency }) => ({
    idempotency: { ...idempotency, repeatable_statuses: [-1, HUGE] },
  }),
  versions: ({ versions }) => ({
    versions: versions.map((version) => ({ ...version, name: LINES, weight: HUGE })),
  }),
};

const HARMLESS_SERVICES: OfService = {
  name: () => ({ name: LINES }),
  upstreams: ({ upstreams }) => ({
    upstreams: upstreams.map(({ url }) => {
      const withUser = url.replace('//', '//user:password@');
      return { id: LINES, region: LINES, weight: HUGE, url: `${withUser}/a b\n?x#y` };
    }),
  }),
  limits: () => ({ limits: { max_in_flight: HUGE, max_connections: HUGE, max_pending: HUGE } }),
  checks: ({ health_check: { path } }) => ({
    health_check: {
      ...{ path, interval_ms: HUGE, timeout_ms: HUGE },
      ...{ healthy_threshold: HUGE, unhealthy_threshold: HUGE },
    },
  }),
};

const METHODS = ['GET', 'PUT', 'DELETE'] as const;

describe('a configuration with odd values', () => {
  it('makes a route unusable whose values could not be sent', async () => {
    const { gateway, use, route } = await setUp();
    for (const fields of Object.values(UNUSABLE_ROUTES)) {
      await use({ route: fields(route) });
      for (const method of METHODS) {
        await expectRefusal(await gateway.call('test', { method }), 503, 'route_unusable');
      }
    }
  });

  it.each(Object.entries(UNUSABLE_SERVICES))(
    'makes the routes of a service unusable with %s',
    async (_what, fields) => {
      const { gateway, use, service } = await setUp();
      await use({ service: fields(service) });
      await expectRefusal(await gateway.call('test'), 503, 'route_unusable');
      await use({});
      expect((await gateway.call('test')).status).toBe(200);
    },
  );

  it('serves requests if the values are only strange', async () => {
    const { gateway, use, route, service } = await setUp();
    const served = async (fields: Parameters<typeof use>[0]) => {
      await use(fields);
      for (const method of METHODS) {
        const headers = { 'idempotency-key': randomBytes(8).toString('hex') };
        expect((await gateway.call('test', { method, headers })).status).toBe(200);
      }
    };
    for (const fields of Object.values(HARMLESS_ROUTES)) await served({ route: fields(route) });
    for (const fields of Object.values(HARMLESS_SERVICES)) {
      await served({ service: fields(service) });
    }
    await served({ service: clientCertificate(certPem, keyPem, service.id) });
  });
});
