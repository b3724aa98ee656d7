import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { addEnvironment, addRoute } from '../../../test/configuration.ts';
import { openTestStore, type TestStore } from '../../../test/store.ts';
import { readChangedRows } from '../../configuration/store/changed-rows.ts';
import { markPublished } from './publications.ts';

const environment = 'production';
const why = 'changed';

let store: TestStore;
beforeEach(async () => {
  store = await openTestStore();
  await addEnvironment(store.db, environment);
});
afterEach(() => store.close());

const pending = async () =>
  (await readChangedRows(store.db, environment, 0))?.pending.map(({ id }) => id) ?? [];

/** The published version of each change, in the order of the changes. */
async function publishedVersions(): Promise<readonly (number | null)[]> {
  const rows = store.db.selectFrom('config_outbox').select('published_version').orderBy('id');
  return (await rows.execute()).map((row) => row.published_version);
}

async function versions(): Promise<readonly number[]> {
  const rows = store.db.selectFrom('config_versions').select('version').orderBy('version');
  return (await rows.execute()).map((row) => row.version);
}

describe('a publication', () => {
  it('is stored as the newest version, with its changes', async () => {
    const { db } = store;
    const ids = await pending();
    await markPublished(db, environment, { version: 1, why }, ids);
    await addRoute(db, environment, 'later');
    expect(await versions()).toEqual([1]);
    expect(await publishedVersions()).toEqual([1, null]);
  });

  it('is not in the history if a later one with its changes was stored before it', async () => {
    const { db } = store;
    // One control plane publishes version 1, and loses its lock before it stores that.
    const first = await pending();
    await addRoute(db, environment, 'later');
    await markPublished(db, environment, { version: 2, why }, await pending());
    await markPublished(db, environment, { version: 1, why }, first);
    // Undoing the changes after version 1 would undo those of version 1 too.
    expect(await versions()).toEqual([2]);
    expect(await publishedVersions()).toEqual([2, 2]);
    const [row] = await db.selectFrom('environments').select('config_version').execute();
    expect(row?.config_version).toBe(2);
  });
});
