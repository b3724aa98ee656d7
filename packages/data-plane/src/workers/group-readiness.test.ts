import { describe, expect, it } from '@jest/globals';
import { readinessOfGroup } from './group-readiness.ts';
import type { Readiness } from './messages.ts';
import type { RunningWorker } from './worker-group.ts';

const READY: Readiness = { notReady: [], degraded: [] };

/** @param readiness undefined: it does not answer. */
function running(worker: number, serves: boolean, readiness?: Readiness): RunningWorker {
  const process: RunningWorker['process'] = {
    ...{ pid: worker, ended: new Promise(() => undefined) },
    ...{ tell: () => undefined, kill: () => undefined },
    readiness: () => Promise.resolve(readiness),
    metrics: () => Promise.resolve(undefined),
  };
  return { worker, serves, process };
}

describe('a group', () => {
  it('is ready where all its workers are', async () => {
    const both = [running(1, true, READY), running(2, true, READY)];
    expect(await readinessOfGroup(both, 2, false)).toEqual(READY);
    expect((await readinessOfGroup(both, 2, true)).notReady).toEqual(['stopping']);
  });

  it('is ready with one that answers, and tells of those that do not, start or are missing', async () => {
    const some = [running(1, true, READY), running(2, true), running(3, false, READY)];
    expect(await readinessOfGroup(some, 4, false)).toEqual({
      notReady: [],
      degraded: ['2 of 4 workers do not serve', 'worker 2: does not answer'],
    });
  });

  it('is not ready where one that takes connections is not, but where one that starts is not', async () => {
    const waits: Readiness = { notReady: ['it waits'], degraded: ['and limps'] };
    expect(
      await readinessOfGroup([running(1, true, READY), running(2, false, waits)], 2, false),
    ).toEqual({
      notReady: [],
      degraded: ['1 of 2 workers do not serve', 'worker 2: it waits', 'worker 2: and limps'],
    });
    expect(
      await readinessOfGroup([running(1, true, READY), running(2, true, waits)], 2, false),
    ).toEqual({
      notReady: ['worker 2: it waits'],
      degraded: ['worker 2: and limps'],
    });
  });

  it('is not ready where none takes connections, or none that does answers', async () => {
    expect((await readinessOfGroup([], 2, false)).notReady).toEqual([
      'no worker takes connections',
    ]);
    const hung = [running(1, true), running(2, true), running(3, false, READY)];
    expect((await readinessOfGroup(hung, 3, false)).notReady).toEqual([
      'no worker that takes connections answers',
    ]);
  });
});
