import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { RequestRecord } from '@gateway/shared/records/record';
import { anyRecord } from '@gateway/shared/test/any-record';
import { requestRecord } from '@gateway/shared/test/request-record';
import { storeAs } from './ingest/storable-record.ts';
import type { RecordDocuments } from './record-document.ts';
import { requestView } from './request-record.ts';

const AT_MS = Date.UTC(2030, 0, 1);
const { id } = requestRecord(AT_MS);

/** What the API shows of the record when it was stored in this form. */
function shown(record: RequestRecord, form: RecordDocuments) {
  const { document, ...columns } = storeAs(form)(record);
  return requestView({ ...columns, document: JSON.parse(document) as unknown });
}

describe('a compact document', () => {
  it('shows the same as a named one, for any record', () => {
    const nearPaths = fc.constantFrom('/v1/proxy/', '/v1/proxy/a', '/v1/proxy/a\0/b', '/', '');
    const routes = fc.constantFrom('a', 'a\0', '', 'b', null);
    fc.assert(
      fc.property(anyRecord, nearPaths, routes, (any, path, route) => {
        for (const changes of [{}, { path, route }]) {
          const record = { ...any, ...changes, id };
          expect(shown(record, 'compact')).toEqual(shown(record, 'named'));
        }
      }),
    );
  });

  it('shows attempts at the last upstream and at others', () => {
    const record = requestRecord(AT_MS, {
      upstream: { id: 'ups_2', url: 'http://u', region: 'eu' },
      attempts: [
        { upstream: 'ups_1', region: 'eu', started_ms: 0, duration_ms: 1, error: 'reset' },
        { upstream: 'ups_2', region: null, started_ms: 1, duration_ms: 1, status: 503 },
        { upstream: 'ups_2', region: 'eu', started_ms: 2, duration_ms: 1, status: 200 },
      ],
    });
    expect(shown(record, 'compact')).toMatchObject({
      upstream: record.upstream,
      attempts: record.attempts,
    });
  });

  it('keeps its form, which later releases read too', () => {
    const record = requestRecord(AT_MS, { route: 'echo', path: '/v1/proxy/echo/1' });
    const document = [
      'tok_1',
      'POST',
      null,
      'ups_1',
      'http://127.0.0.1:9000',
      null,
      13_000,
      '[0,0,0,null,"svc_1",0,["/1"],0,0,0,0,1000,12000,0,0,0,[[0,0,500,12000,200]],' +
        '[60000,59999,60],null,0,null,null,"127.0.0.1",null,80,150,"data-plane-1",1,' +
        '"0af7651916cd43dd8448eb211c80319c",null,null,[0,0],' +
        '"AFHI","gateway.test",80]',
    ];
    const { document: stored, ...columns } = storeAs('compact')(record);
    expect(JSON.parse(stored)).toEqual(document);
    const { received_at_ms: _, ...fields } = record;
    expect(requestView({ ...columns, document })).toMatchObject(fields);
    // What a later release may add.
    const later = [
      ...document.with(
        7,
        `${String(document[7]).slice(0, -1)},null,null,null,null,null,null,null,null,null,null,"new"]`,
      ),
      1,
    ];
    expect(requestView({ ...columns, document: later })).toMatchObject(fields);
  });

  it('is at most 55 % of a named one', () => {
    const record = requestRecord(AT_MS);
    const length = (form: RecordDocuments) => storeAs(form)(record).document.length;
    expect(length('compact') / length('named')).toBeLessThan(0.55);
  });
});
