import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../test/api.ts';
import type { ServiceStatus } from '../services/service.ts';
import { etagOf } from './etag.ts';

describe('conditional requests on a service', () => {
  let api: TestApi;
  const statusOf = new Map<string, ServiceStatus>();

  beforeAll(async () => {
    api = await startTestApi({ statusOf: (id) => statusOf.get(id) ?? 'unknown' });
  });

  afterAll(async () => {
    await api.close();
  });

  async function make(name: string) {
    const body = { name, environment: 'production', url: 'http://pay.example' };
    const { status, headers, json, text } = await api.call('POST', '/v1/services', { body });
    if (status !== 201) throw new Error(text);
    return { id: json.data?.id ?? '', path: headers.get('location') ?? '' };
  }

  it('answers 412 to an If-Match of an older revision, and changes nothing', async () => {
    const made = await make('guarded');
    const of = (revision: number) => etagOf({ ...made, revision });
    const patch = (ifMatch: string, name: string) =>
      api.call('PATCH', made.path, { body: { name }, headers: { 'if-match': ifMatch } });
    expect((await patch(of(1), 'guarded-2')).status).toBe(200);
    const refused = await patch(of(1), 'guarded-3');
    expect(refused.status).toBe(412);
    expect(refused.json.error?.['code']).toBe('precondition_failed');
    expect((await patch(`W/${of(2)}`, 'guarded-3')).status).toBe(412);
    const unquoted = await patch('2', 'guarded-3');
    expect([unquoted.status, unquoted.json.error?.['message']]).toEqual([
      412,
      `If-Match must be an ETag with its quotes, such as ${of(2)}.`,
    ]);
    expect((await api.call('GET', made.path)).json.data).toMatchObject({ name: 'guarded-2' });
    expect((await patch(`${of(7)}, ${of(2)}`, 'guarded-4')).status).toBe(200);
    expect((await patch('*', 'guarded-5')).status).toBe(200);
    const headers = { 'if-match': of(1) };
    expect((await api.call('DELETE', made.path, { headers })).status).toBe(412);
  });

  it('lets exactly one of many writers of the same revision win', async () => {
    const made = await make('raced');
    const writers = Array.from({ length: 8 }, (_, index) =>
      api.call('PATCH', made.path, {
        body: { name: `raced-${index}` },
        headers: { 'if-match': etagOf({ ...made, revision: 1 }) },
      }),
    );
    const statuses = (await Promise.all(writers)).map((answer) => answer.status).sort();
    expect(statuses).toEqual([200, 412, 412, 412, 412, 412, 412, 412]);
  });

  it('answers 304 to an If-None-Match of the newest revision', async () => {
    const made = await make('cached');
    const get = (tag: string) => api.call('GET', made.path, { headers: { 'if-none-match': tag } });
    const same = await get(`W/${etagOf({ ...made, revision: 1 }, 'unknown')}`);
    expect({ status: same.status, text: same.text }).toEqual({ status: 304, text: '' });
    expect(same.headers.get('x-request-id')).toMatch(/^req_/);
    expect((await get(etagOf({ ...made, revision: 2 }, 'unknown'))).status).toBe(200);
  });

  it('answers 200, not 304, to the tag of an older status, and accepts that tag in If-Match', async () => {
    const made = await make('flapping');
    const read = (headers: Record<string, string> = {}) => api.call('GET', made.path, { headers });
    statusOf.set(made.id, 'healthy');
    const before = (await read()).headers.get('etag') ?? '';
    expect((await read({ 'if-none-match': before })).status).toBe(304);
    statusOf.set(made.id, 'unhealthy');
    const after = await read({ 'if-none-match': before });
    expect({ status: after.status, data: after.json.data }).toMatchObject({
      status: 200,
      data: { status: 'unhealthy', revision: 1 },
    });
    expect((await read({ 'if-none-match': after.headers.get('etag') ?? '' })).status).toBe(304);
    const headers = { 'if-match': before };
    const changed = await api.call('PATCH', made.path, { body: { health_path: '/up' }, headers });
    expect(changed.status).toBe(200);
    const late = await api.call('DELETE', made.path, { headers });
    expect([late.status, late.headers.get('etag')]).toEqual([
      412,
      etagOf({ ...made, revision: 2 }),
    ]);
  });
});
