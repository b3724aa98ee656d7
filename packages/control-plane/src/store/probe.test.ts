import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { systemClock, pause } from '@gateway/shared/clock';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { eventually } from '@gateway/shared/test/eventually';
import { openTcpGate, type TcpGate } from '@gateway/shared/test/tcp-gate';
import { sql } from 'kysely';
import { openTestStore, type TestStore } from '../../test/store.ts';
import { openDatabase } from './database.ts';
import { startDatabaseProbe, type DatabaseProbe } from './probe.ts';

const log = createLogger('test', 'silent');

let store: TestStore;
let gate: TcpGate;
let probe: DatabaseProbe;
beforeEach(async () => {
  store = await openTestStore();
  const url = new URL(store.url);
  gate = await openTcpGate(Number(url.port));
  url.port = String(gate.port);
  const database = openDatabase({ url: url.href, log, maxConnections: 1 });
  probe = startDatabaseProbe(database, systemClock, log);
});
afterEach(async () => {
  await probe.stop();
  await gate.close();
  await store.close();
});

describe('the Postgres probe', () => {
  it('does not wait for a busy pool', async () => {
    const ended = new AbortController();
    const held = Array.from({ length: 60 }, () =>
      sql`SELECT pg_sleep(4.5)`.execute(store.db).catch(() => undefined),
    );
    await pause(systemClock, 4000, ended.signal);
    expect(probe.fault()).toBeUndefined();
    await Promise.all(held);
  }, 60_000);

  it('reports whether a connection can be made', async () => {
    await gate.set('shut');
    await eventually(() => expect(probe.fault()).toMatch(/ECONNREFUSED|terminated/));
    await gate.set('open');
    await eventually(() => expect(probe.fault()).toBeUndefined());
  });
});
