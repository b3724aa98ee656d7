import { describe, expect, it } from '@jest/globals';
import { timeOfId } from '@gateway/shared/ids';
import type { RequestRecord } from '@gateway/shared/records/record';
import { recordRow } from '@gateway/shared/records/record-row';
import { recordBatchSchema } from '@gateway/shared/records/record-batch';
import { recordBatchText, requestRecord } from '@gateway/shared/test/request-record';
import { parseBatch, storableRecord } from './storable-record.ts';

const AT_MS = Date.UTC(2030, 0, 1);

describe('a message of request records', () => {
  it('is parsed completely', () => {
    const records = [requestRecord(AT_MS), requestRecord(AT_MS + 1)];
    const batch = parseBatch(recordBatchText(records), AT_MS);
    expect(batch?.refused).toBe(0);
    expect(batch?.records.map((record) => record.id)).toEqual(records.map((record) => record.id));
    const { id, environment, route, status, outcome, received_at_ms, ...rest } =
      requestRecord(AT_MS);
    // The usual kind is not stored, and the names are one text.
    const kept = Object.fromEntries(
      Object.entries({ ...rest, kind: null, header_names: 'AFHI' }).filter(
        ([, value]) => value !== null,
      ),
    );
    expect(Object.keys(kept).length).toBeLessThan(Object.keys(rest).length);
    expect(JSON.parse(batch?.records[0]?.document ?? '')).toEqual(kept);
    expect([id.length, environment, route, status, outcome]).toEqual([
      30,
      'production',
      'echo',
      200,
      'success',
    ]);
    expect(batch?.records[0]?.receivedAtMs).toBe(received_at_ms);
  });

  it.each([
    '',
    '{',
    '{"id":1}',
    'null',
    '"text"',
    '[]',
    '{"records":[]}',
    '{"format":99,"records":[]}',
  ])('that is not a batch of a known format is refused: %j', (text) => {
    expect(parseBatch(text, AT_MS)).toBeUndefined();
  });

  it('loses only records that are dated more than 30 days ahead', () => {
    const atMs = AT_MS + 30 * 24 * 60 * 60 * 1000;
    const [last, beyond] = [requestRecord(atMs), requestRecord(atMs + 1)];
    const batch = parseBatch(recordBatchText([last, beyond]), AT_MS);
    expect(batch).toMatchObject({ records: [{ id: last.id }], refused: 1 });
  });

  it('loses no record because of a malformed one', () => {
    const good = requestRecord(AT_MS);
    const row = recordRow(good);
    const odd = [null, recordRow({ ...good, id: 'req_1' }), row.with(8, 'odd'), [], good];
    const oddRows = [row.slice(1), row.with(16, [['ups_1', null, 'soon']]), row.with(17, 60_000)];
    const batch = parseBatch(recordBatchText([], [...odd, row, ...oddRows]), AT_MS);
    expect(batch).toMatchObject({ records: [{ id: good.id }], refused: 8 });
  });
});

describe('the place of a batch', () => {
  const place = { process: 'req_1', sequence: 7 };
  const placeOf = (text: string) => parseBatch(text, AT_MS)?.place;

  it('is that of its data-plane process', () => {
    expect(placeOf(recordBatchText([requestRecord(AT_MS)], [], place))).toEqual(place);
  });

  it('is unknown in a batch of an older data plane', () => {
    expect(placeOf(recordBatchText([requestRecord(AT_MS)]))).toBeUndefined();
  });

  it('is not read by the releases that do not know it, which take the batch', () => {
    const text = recordBatchText([requestRecord(AT_MS)], [], place);
    const known = recordBatchSchema.omit({ process: true, sequence: true });
    expect(known.parse(JSON.parse(text)).records).toHaveLength(1);
  });
});

describe('the token uses in a message of request records', () => {
  const first = 'tok_00000000000000000000000001';
  const second = 'tok_00000000000000000000000002';
  const usesOf = (...records: RequestRecord[]) =>
    parseBatch(recordBatchText(records), AT_MS)?.tokenUses;

  it('are the latest of each token', () => {
    const uses = usesOf(
      requestRecord(AT_MS + 5, { token_id: first }),
      requestRecord(AT_MS, { token_id: first }),
      requestRecord(AT_MS + 1, { token_id: second, status: 404, error_code: 'route_not_found' }),
    );
    expect(uses).toEqual(
      new Map([
        [first, AT_MS + 5],
        [second, AT_MS + 1],
      ]),
    );
  });

  it('do not include failed authentications and malformed ids', () => {
    const uses = usesOf(
      requestRecord(AT_MS, { token_id: first, error_code: 'authentication_failed' }),
      requestRecord(AT_MS, { token_id: null }),
      requestRecord(AT_MS, { token_id: "tok_'; --" }),
    );
    expect(uses).toEqual(new Map());
  });
});

describe('a storable record', () => {
  it('has the time of its id', () => {
    const record = requestRecord(AT_MS, { received_at_ms: AT_MS + 5000 });
    expect(storableRecord(record).receivedAtMs).toBe(timeOfId(record.id));
  });

  it('contains no character that Postgres refuses', () => {
    const odd = 'a\0b\ud800c\udc00';
    const stored = storableRecord(
      requestRecord(AT_MS, {
        path: odd,
        route: odd,
        client_request_id: '\\u0000',
        trace_id: '😀',
        claims: { [odd]: [odd], plain: 1 },
      }),
    );
    const clean = 'a\uFFFDb\uFFFDc\uFFFD';
    expect(stored.route).toBe(clean);
    expect(JSON.parse(stored.document)).toMatchObject({
      path: clean,
      client_request_id: '\\u0000',
      trace_id: '😀',
      claims: { [clean]: [clean], plain: 1 },
    });
  });

  it('has truncated names that would not fit into an index', () => {
    const { route, environment } = storableRecord(
      requestRecord(AT_MS, { route: 'r'.repeat(9000), environment: '😀'.repeat(200) }),
    );
    expect(route).toBe('r'.repeat(255));
    expect(environment).toHaveLength(255);
    expect(environment?.isWellFormed()).toBe(true);
  });
});
