import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createIdFactory } from '@gateway/shared/ids';
import type { RequestRecord } from '@gateway/shared/records/record';
import { eventually } from '@gateway/shared/test/eventually';
import { requestRecord } from '@gateway/shared/test/request-record';
import { refuseAccess } from '../../access/access.ts';
import { RECORD_DOCUMENTS } from '../record-document.ts';
import { requestViewSchema } from '../request-record.ts';
import type { CallerToken } from '../../access/caller.ts';
import { storeAs } from '../ingest/storable-record.ts';
import { insertRecords } from '../store/records.ts';
import { DAY_MS, NOW, RequestWorld, token } from '../../../test/request-world.ts';

let world: RequestWorld;
beforeEach(async () => {
  world = await RequestWorld.open();
});
afterEach(() => world.close());

describe('GET /v1/requests/{id}', () => {
  it.each(RECORD_DOCUMENTS)(
    'shows every field of a %s record, and when it expires',
    async (form) => {
      const record = requestRecord(NOW - 10_000);
      await insertRecords(world.store.db, [storeAs(form)(record)]);
      const { received_at_ms: receivedAtMs, ...fields } = record;
      const data = {
        ...fields,
        received_at: new Date(receivedAtMs).toISOString(),
        expires_at: new Date(receivedAtMs + 30 * DAY_MS).toISOString(),
      };
      expect(await world.show(record.id)).toEqual({ kind: 'one', data });
      expect(requestViewSchema.parse(data)).toEqual(data);
    },
  );

  it('answers request_not_found for an unknown, malformed or other id', async () => {
    const other = createIdFactory(() => NOW - 10_000);
    for (const id of [other('req'), other('rte'), 'req_', '', "req_' OR 1=1", 'req_\0']) {
      expect(await world.show(id)).toMatchObject({ code: 'request_not_found' });
    }
  });

  it('finds a request for exactly 30 days, although its partition exists longer', async () => {
    const record = requestRecord(NOW - 30 * DAY_MS + 1);
    await world.insert(record);
    expect(await world.show(record.id)).toMatchObject({ kind: 'one' });
    world.clock.advance(1);
    expect(await world.show(record.id)).toMatchObject({ code: 'request_not_found' });
    expect(await world.list({})).toEqual({ ids: [], next: null });
  });

  it('waits for the record of a request that has just ended', async () => {
    const record = requestRecord(NOW - 100);
    const answer = world.show(record.id);
    let answered = false;
    void answer.then(() => (answered = true));
    await world.insert(record);
    await eventually(() => {
      world.clock.advance(40);
      expect(answered).toBe(true);
    });
    expect(await answer).toMatchObject({ kind: 'one' });
    expect(world.clock.monotonicMs()).toBeLessThan(2000);
  });

  it('refuses a token that ends while the call waits for the record or for other searches', async () => {
    const record = requestRecord(NOW - 100);
    const ended = { confirmToken: () => Promise.reject(refuseAccess('The token has ended.')) };
    const answer = world.ask('/v1/requests/{id}', { ...ended, params: { id: record.id } });
    await world.insert(record);
    let answered = false;
    void answer.then(() => (answered = true));
    await eventually(() => {
      world.clock.advance(40);
      expect(answered).toBe(true);
    });
    expect(await answer).toMatchObject({ code: 'authentication_failed' });
    expect(await world.ask('/v1/requests', ended)).toMatchObject({ code: 'authentication_failed' });
  });

  it('refuses a token that does not cover the environment and the route', async () => {
    const record = requestRecord(NOW - 10_000);
    const refused = requestRecord(NOW - 10_000, { environment: null, route: null });
    const unrouted = requestRecord(NOW - 10_000, { route: null });
    await world.insert(record, refused, unrouted);
    const cases: [RequestRecord, CallerToken, boolean][] = [
      [record, token(['production'], ['echo']), true],
      [record, token(['*'], ['echo']), true],
      [record, token(['development'], ['*']), false],
      [record, token(['production'], ['other']), false],
      [refused, token(['production'], ['*']), false],
      [refused, token(), true],
      [unrouted, token(['production'], ['echo']), false],
      [unrouted, token(['production'], ['*']), true],
    ];
    for (const [{ id }, caller, isShown] of cases) {
      const wanted = isShown ? { kind: 'one' } : { code: 'authentication_failed' };
      expect(await world.show(id, caller)).toMatchObject(wanted);
    }
  });
});
