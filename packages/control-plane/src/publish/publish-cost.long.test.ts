import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { systemClock } from '@gateway/shared/clock';
import { systemRandom } from '@gateway/shared/ids';
import type { KyselyPlugin } from 'kysely';
import { createPublisherSession, type PublisherSession } from './store/publisher-session.ts';
import { addRoute, changeRoute } from '../../test/configuration.ts';
import { openTestPublishing, type TestPublishing } from '../../test/publishing.ts';
import { createNatsSnapshotStore } from './nats-snapshot-store.ts';
import { publishEnvironment } from './publish-environment.ts';
import type { SnapshotStore } from './snapshot-store.ts';

let publishing: TestPublishing;
let session: PublisherSession;
beforeEach(async () => {
  publishing = await openTestPublishing();
  const ignore = () => undefined;
  session = createPublisherSession(publishing.store.url, { changed: ignore, published: ignore });
});
afterEach(async () => {
  await session.close();
  await publishing.close();
});

/** The traffic to Postgres and NATS. */
interface Work {
  statements: number;
  rows: number;
  calls: number;
  bytes: number;
}

function countingRows(work: Work): KyselyPlugin {
  return {
    transformQuery({ node }) {
      work.statements += 1;
      return node;
    },
    transformResult({ result }) {
      work.rows += result.rows.length;
      return Promise.resolve(result);
    },
  };
}

function countingCalls(store: SnapshotStore, work: Work): SnapshotStore {
  return new Proxy(store, {
    get(target, name): unknown {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...given: unknown[]): unknown => {
        work.calls += 1;
        for (const one of given) if (one instanceof Uint8Array) work.bytes += one.length;
        return Reflect.apply(member, target, given);
      };
    },
  });
}

/** Publishes the pending changes and returns what that cost. */
async function publish(isFirst: boolean) {
  const { store, nats, environment, keys } = publishing;
  const work: Work = { statements: 0, rows: 0, calls: 0, bytes: 0 };
  const snapshots = await createNatsSnapshotStore(nats.connection, nats.prepare);
  const result = await publishEnvironment(
    {
      session,
      keys,
      reservedHosts: [],
      clock: systemClock,
      random: systemRandom,
      log: createLogger('test', 'silent'),
      db: store.db.withPlugin(countingRows(work)),
      store: countingCalls(snapshots, work),
    },
    environment,
    { isFirst, servedVersion: 0, snapshotMinAgeMs: undefined },
  );
  return { form: result.kind === 'published' ? result.form : result.kind, work };
}

async function publishOneChange() {
  await changeRoute(publishing.store.db, publishing.environment, 'changed', 'update');
  return publish(false);
}

describe('the cost of publishing a change', () => {
  it('does not depend on the number of routes', async () => {
    const { store, environment } = publishing;
    await addRoute(store.db, environment, 'changed');
    expect((await publish(true)).form).toBe('snapshot');
    const small = await publishOneChange();
    expect(small.form).toBe('delta');
    for (let route = 0; route < 200; route += 1) await addRoute(store.db, environment, `r${route}`);
    // Proves that the counters see a cost that grows.
    const whole = await publish(false);
    expect(whole).toMatchObject({ form: 'snapshot', work: { rows: expect.any(Number) } });
    expect(whole.work.rows).toBeGreaterThan(200);
    const large = await publishOneChange();
    expect(large.form).toBe('delta');
    const { bytes, ...counts } = large.work;
    expect({ ...counts, bytes: small.work.bytes }).toEqual(small.work);
    // Versions and revisions may have more digits.
    expect(Math.abs(bytes - small.work.bytes)).toBeLessThan(20);
  });
});
