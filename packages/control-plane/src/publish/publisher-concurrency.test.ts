import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { UNPACED } from '@gateway/shared/pace';
import { openPointer } from '@gateway/shared/snapshot/signed-snapshot';
import { eventually } from '@gateway/shared/test/eventually';
import { readConfiguration } from '../configuration/store/configuration-rows.ts';
import { addRoute, addToken } from '../../test/configuration.ts';
import { openTestPublishing, type TestPublishing } from '../../test/publishing.ts';
import { compileSnapshot } from './compile.ts';

let publishing: TestPublishing;
beforeEach(async () => void (publishing = await openTestPublishing()));
afterEach(() => publishing.close());

describe('several publishers', () => {
  it('lose no change, and publish rising versions', async () => {
    const versions: number[] = [];
    const watch = await publishing.pointers.watch({ key: publishing.environment });
    const watching = (async () => {
      for await (const entry of watch) {
        versions.push(openPointer(entry.string(), publishing.environment, publishing.keys).version);
      }
    })();
    await Promise.all([
      publishing.startPublisher(),
      publishing.startPublisher(),
      publishing.startPublisher(),
    ]);
    const changes = Array.from({ length: 100 }, (_, index) => index);
    await Promise.all(
      changes.map((index) =>
        index % 2 === 0
          ? addRoute(publishing.store.db, publishing.environment, `r${index}`)
          : addToken(publishing.store.db, publishing.environment, `t${index}`),
      ),
    );
    await publishing.settled();
    const rows = (await readConfiguration(publishing.store.db, publishing.environment))?.rows;
    if (rows === undefined) throw new Error('the environment does not exist');
    const published = await publishing.readSnapshot();
    const { version } = published;
    const text = await compileSnapshot(
      rows,
      { version, nowMs: Date.now(), reservedHosts: [] },
      UNPACED,
    );
    expect(published).toEqual(JSON.parse(text));
    expect(published.routes).toHaveLength(50);
    expect(published.tokens).toHaveLength(50);
    await eventually(() => expect(versions.at(-1)).toBe(version));
    watch.stop();
    await watching;
    expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
  });
});

describe('the time from a commit to the published version', () => {
  it('has a median far below a second over 50 changes', async () => {
    await publishing.startPublisher();
    await publishing.settled();
    const seen = new Map<number, number>();
    const watch = await publishing.pointers.watch({
      key: publishing.environment,
      include: 'updates',
    });
    const watching = (async () => {
      for await (const entry of watch) seen.set(entry.revision, performance.now());
    })();
    const tookMs: number[] = [];
    for (let change = 0; change < 50; change += 1) {
      const count = seen.size;
      await addRoute(publishing.store.db, publishing.environment, `r${change}`);
      const committedMs = performance.now();
      await eventually(() => expect(seen.size).toBeGreaterThan(count), { intervalMs: 1 });
      tookMs.push(Math.max(0, ([...seen.values()].at(-1) ?? Infinity) - committedMs));
    }
    watch.stop();
    await watching;
    tookMs.sort((a, b) => a - b);
    const at = (part: number) => tookMs[Math.floor(tookMs.length * part)] ?? Infinity;
    if (process.env['TEST_FIGURES'] === '1') {
      process.stdout.write(`commit to pointer: p50 ${at(0.5)} p90 ${at(0.9)} max ${at(0.99)} ms\n`);
    }
    expect(at(0.5)).toBeLessThan(1000);
  });
});
