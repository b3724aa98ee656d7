import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { requestRecord } from '@gateway/shared/test/request-record';
import type { RequestRecord } from '@gateway/shared/records/record';
import { startTestApi, type TestApi } from '../../../test/api.ts';
import { storableRecord } from '../../requests/ingest/storable-record.ts';
import { insertRecords } from '../../requests/store/records.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  const atMs = api.clock.nowMs() - 60_000;
  const refused: Partial<RequestRecord> = { outcome: 'rejected', service_id: null };
  await insertRecords(
    api.db,
    [
      {},
      {},
      {},
      { ...refused, status: 429 },
      { ...refused, status: 429 },
      { ...refused, status: 401 },
      // Of an upstream.
      { status: 429, service_id: 'svc_other' },
      { status: 503, outcome: 'upstream_error' as const, service_id: 'svc_other' },
    ].map((changes) => storableRecord(requestRecord(atMs, changes))),
  );
});
afterAll(() => api.close());

async function groups(query: string): Promise<Record<string, number>> {
  const { json } = await api.call('GET', `/v1/stats?${query}`);
  const data = json.data?.['groups'] as { value: string | null; requests: number }[];
  return Object.fromEntries(data.map(({ value, requests }) => [String(value), requests]));
}

it('counts 429 apart from other statuses of its class, and in its class', async () => {
  // Requests without a service count for a route only if there is one.
  expect(await groups('by=status')).toEqual({ '2xx': 3, '429': 3, '4xx': 1, '5xx': 1 });
  expect(await groups('by=status_class')).toEqual({ '2xx': 3, '4xx': 4, '5xx': 1 });
  expect(await groups('by=status&status_class=4xx')).toEqual({ '429': 3, '4xx': 1 });
});

it('counts by service', async () => {
  const { service_id: id } = requestRecord(0);
  expect(await groups('by=service_id')).toEqual({ [String(id)]: 3, svc_other: 2, null: 3 });
});
