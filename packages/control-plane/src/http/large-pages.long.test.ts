import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestAuthority } from '@gateway/shared/test/certificates';
import { startTestApi, type TestApi } from '../../test/api.ts';

const MAX_CA_CHARS = 256 * 1024;
const SERVICES = 20;
/** 4 MiB of large fields, one more row, and the other fields. */
const MAX_BODY_BYTES = 5 * 1024 * 1024;

describe('a list of services with large certificates', () => {
  let api: TestApi;
  const ids: string[] = [];
  let versions: readonly [number, number];

  beforeAll(async () => {
    api = await startTestApi();
    const { certPem } = createTestAuthority('upstreams');
    const tls = { ca_pem: certPem.repeat(Math.floor(MAX_CA_CHARS / certPem.length)) };
    const before = await api.publish('production');
    for (let count = 0; count < SERVICES; count += 1) {
      api.clock.advance(1);
      const body = { name: `s${count}`, environment: 'production', url: 'https://a.example', tls };
      const made = await api.call('POST', '/v1/services', { body });
      ids.push(made.json.data?.id ?? '');
    }
    versions = [before, await api.publish('production')];
  });
  afterAll(() => api.close());

  /** The items of all pages, in order. Each page is bounded, although its limit is 200. */
  async function pages(path: string, idOf: (row: Record<string, unknown>) => unknown) {
    const seen: unknown[] = [];
    let count = 0;
    for (let cursor = ''; ;) {
      const { status, text, json } = await api.call('GET', `${path}limit=200${cursor}`);
      expect(status).toBe(200);
      expect(text.length).toBeLessThan(MAX_BODY_BYTES);
      count += 1;
      seen.push(...(json.data ?? []).map(idOf));
      if (typeof json.next_cursor !== 'string') return { seen, count };
      cursor = `&cursor=${json.next_cursor}`;
    }
  }

  it('has pages of bounded size and leaves no item out', async () => {
    expect(await pages('/v1/services?', ({ id }) => id)).toEqual({ seen: ids, count: 2 });
  });

  it('and so has the list of audit events', async () => {
    const path = '/v1/audit-events?action=service.created&';
    const seen = ids.toReversed();
    expect(await pages(path, (event) => event['resource_id'])).toEqual({ seen, count: 2 });
  });

  it('and so has the list of differences between two versions', async () => {
    const [from, to] = versions;
    const path = `/v1/config/diff?environment=production&from=${from}&to=${to}&`;
    expect(await pages(path, ({ id }) => id)).toEqual({ seen: ids, count: 2 });
  });
});
