import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { captureLog } from '../../../test/captured-log.ts';
import { openSavedPlace } from './saved-place.ts';

const place = { slot: 4, parts: 250_000, from_ms: 1.5, usable_from_ms: 2, owes: true };

describe('the place in the fleet on disk', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'gateway-place-'));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  it('is read as it was saved, and is gone after leaving the fleet', async () => {
    const { log, lines } = captureLog();
    const file = path.join(dir, 'new', 'quota-place');
    const saved = openSavedPlace(file, log);
    expect(saved.load()).toBeUndefined();
    saved.save({ ...place, owes: false });
    saved.save(place);
    expect(openSavedPlace(file, log).load()).toEqual(place);
    expect(await readdir(path.dirname(file))).toEqual(['quota-place']);
    saved.save(undefined);
    expect(saved.load()).toBeUndefined();
    expect(lines).toEqual([]);
  });

  it.each(['', '{"format":1', '{"format":9,"slot":1,"parts":1,"from_ms":1,"owes":false}'])(
    'is skipped, with a line in the log, if the file is %j',
    async (content) => {
      const { log, lines } = captureLog();
      const file = path.join(dir, 'quota-place');
      await writeFile(file, content);
      expect(openSavedPlace(file, log).load()).toBeUndefined();
      expect(lines).toHaveLength(1);
    },
  );

  it('is missed, with one line in the log, if it cannot be written', async () => {
    const { log, lines } = captureLog();
    await writeFile(path.join(dir, 'taken'), '');
    const saved = openSavedPlace(path.join(dir, 'taken', 'quota-place'), log);
    saved.save(place);
    saved.save(place);
    expect(lines).toHaveLength(1);
  });
});
