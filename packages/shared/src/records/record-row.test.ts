import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { anyRecord } from '../../test/any-record.ts';
import { recordBatchText, recordsOfBatch, requestRecord } from '../../test/request-record.ts';
import { requestRecordSchema, type RequestRecord } from './record.ts';
import { recordRow, recordRowSchema } from './record-row.ts';

const AT_MS = Date.UTC(2030, 0, 1);

test('a record is the same after encoding and decoding, with every field', () => {
  const fields = Object.keys(requestRecordSchema.shape).toSorted();
  fc.assert(
    fc.property(fc.array(anyRecord, { maxLength: 3 }), (records) => {
      for (const record of records) expect(Object.keys(record).toSorted()).toEqual(fields);
      expect(recordsOfBatch(recordBatchText(records))).toEqual(records);
    }),
  );
});

/** The format of every release so far: records in the stream and in spool files must stay readable. */
const ROW =
  '["req_1","production","orders","blue","svc_1","POST","/v1/proxy/orders",503,"upstream_error","e",' +
  '1893456000000,871,12345,13216,["ups_2","http://127.0.0.1:9000","eu"],1,' +
  '[["ups_1","us",500,2001,null,"reset"],["ups_2","eu",2600,10344,503]],[100,99,60],"replayed",' +
  '"tok_1","alice",{"iss":"https://issuer.test"},"192.0.2.1","mine",80,150,"data-plane-1",7,' +
  '"0af7651916cd43dd8448eb211c80319c"]';
const RECORD: RequestRecord = {
  id: 'req_1',
  environment: 'production',
  route: 'orders',
  route_version: 'blue',
  service_id: 'svc_1',
  method: 'POST',
  path: '/v1/proxy/orders',
  status: 503,
  outcome: 'upstream_error',
  error_code: 'e',
  error_stage: null,
  received_at_ms: AT_MS,
  timing: {
    gateway_ms: 0.871,
    receiving_ms: null,
    waiting_ms: null,
    upstream_ms: 12.345,
    sending_ms: null,
    total_ms: 13.216,
  },
  waits: null,
  upstream: { id: 'ups_2', url: 'http://127.0.0.1:9000', region: 'eu' },
  retry_count: 1,
  attempts: [
    { upstream: 'ups_1', region: 'us', started_ms: 0.5, duration_ms: 2.001, error: 'reset' },
    { upstream: 'ups_2', region: 'eu', started_ms: 2.6, duration_ms: 10.344, status: 503 },
  ],
  rate_limit: { limit: 100, remaining: 99, reset_seconds: 60 },
  idempotency: 'replayed',
  token_id: 'tok_1',
  subject: 'alice',
  claims: { iss: 'https://issuer.test' },
  client_ip: '192.0.2.1',
  client_request_id: 'mine',
  request_bytes: 80,
  response_bytes: 150,
  data_plane: 'data-plane-1',
  config_version: 7,
  trace_id: '0af7651916cd43dd8448eb211c80319c',
  header_names: null,
  host: null,
  request_content_length: null,
  kind: 'request',
  match: null,
  caller_id: null,
  would_refuse: null,
  units: null,
  upstream_request_id: null,
  parent_id: null,
  policies: null,
  grpc_status: null,
};

test('each value has the same place in the row as in every release so far', () => {
  expect(JSON.stringify(recordRow(RECORD))).toBe(ROW);
  expect(recordRowSchema.parse(JSON.parse(ROW))).toEqual(RECORD);
});

test('what followed an attempt stands after the values that all releases know', () => {
  const [first, second] = RECORD.attempts;
  if (first === undefined || second === undefined) throw new Error('two attempts are needed');
  const retried = { ...first, retry: { retried: true, why: 'method_idempotent' } };
  const record = { ...RECORD, attempts: [retried, second] };
  const row = `${ROW.slice(0, -1)},[[true,"method_idempotent"],null]]`;
  expect(JSON.stringify(recordRow(record))).toBe(row);
  expect(recordRowSchema.parse(JSON.parse(row))).toEqual(record);
});

test('the stage that refused stands after them', () => {
  const record = { ...RECORD, attempts: [], error_stage: 'quota' };
  const [start = '', end = ''] = ROW.split(/\[\["ups_1".*?503\]\]/);
  const row = `${start}[]${end.slice(0, -1)},null,"quota"]`;
  expect(JSON.stringify(recordRow(record))).toBe(row);
  expect(recordRowSchema.parse(JSON.parse(row))).toEqual(record);
  const older = row.replace(',null,"quota"', ',[],"quota"');
  expect(recordRowSchema.parse(JSON.parse(older))).toEqual(record);
});

test('the other times and the later fields stand after them', () => {
  const { attempts, timing } = RECORD;
  const times = { receiving_ms: 0.04, waiting_ms: 17.015, sending_ms: 0.2 };
  const record = {
    ...RECORD,
    attempts,
    timing: { ...timing, ...times },
    waits: { key_ms: 0, quota_ms: 0, connection_ms: 0.005, retry_ms: 17.01 },
    header_names: ['host', 'accept'],
    host: 'gateway.test:8080',
    request_content_length: 80,
  };
  const added = 'null,null,[40,200,0,0,5,17010],"AC","gateway.test:8080",80';
  expect(JSON.stringify(recordRow(record))).toBe(`${ROW.slice(0, -1)},${added}]`);
  expect(recordRowSchema.parse(recordRow(record))).toEqual(record);
  const idle = { ...record, timing: { ...record.timing, waiting_ms: 0 }, waits: null };
  expect(recordRow(idle)[31]).toEqual([40, 200]);
  const later = {
    ...idle,
    kind: 'mirror',
    match: 'GET /orders/{id}',
    caller_id: 'cal_1',
    would_refuse: 'rate_limit_exceeded',
    units: 3,
    upstream_request_id: 'up-1',
    parent_id: null,
    policies: null,
    grpc_status: null,
  };
  const more = ',"mirror","GET /orders/{id}","cal_1","rate_limit_exceeded",3,"up-1"]';
  expect(JSON.stringify(recordRow(later)).endsWith(more)).toBe(true);
  expect(recordRowSchema.parse(recordRow(later))).toEqual(later);
});

test('the gRPC statuses of the call and of its attempts stand after them', () => {
  const [first, second] = RECORD.attempts;
  if (first === undefined || second === undefined) throw new Error('two attempts are needed');
  const record = {
    ...RECORD,
    attempts: [first, { ...second, status: 200, grpc_status: 0 }],
    grpc_status: 0,
  };
  const row = recordRow(record);
  expect(row.slice(43)).toEqual([0, [null, 0]]);
  expect(recordRowSchema.parse(row)).toEqual(record);
});

test('values after the last known one are ignored', () => {
  const record = requestRecord(AT_MS);
  const row = recordRow({ ...record, upstream_request_id: 'up-1' });
  const whole = recordRowSchema.parse(row);
  expect(recordRowSchema.parse([...row, null, null, null, null, 'new'])).toEqual(whole);
  const newer = [...row, null, null, null, null, [], null, 'new', { of: 'the next version' }];
  expect(recordRowSchema.parse(newer)).toEqual(whole);
});

test.each([
  ['a text', 'text'],
  ['a record with names', requestRecord(AT_MS)],
  ['an empty row', []],
  ['a row without its id', recordRow(requestRecord(AT_MS)).slice(1)],
  ['an attempt without values', recordRow(requestRecord(AT_MS)).with(16, [7])],
  ['a retry without values', recordRow(requestRecord(AT_MS)).with(29, [[]])],
  ['times that are not a list', recordRow(requestRecord(AT_MS)).with(31, 7)],
  ['a list of one time', recordRow(requestRecord(AT_MS)).with(31, [7])],
  ['names in a number', recordRow(requestRecord(AT_MS)).with(32, 7)],
  ['attempts that are not a list', recordRow(requestRecord(AT_MS)).with(16, {})],
  ['an upstream without its URL', recordRow(requestRecord(AT_MS)).with(14, ['ups_1'])],
])('%s is refused', (_what, entry) => {
  expect(recordRowSchema.safeParse(entry).success).toBe(false);
});

test('a row is at most 55 % of the record with its names', () => {
  const record = requestRecord(AT_MS);
  const share = JSON.stringify(recordRow(record)).length / JSON.stringify(record).length;
  expect(share).toBeLessThan(0.55);
});
