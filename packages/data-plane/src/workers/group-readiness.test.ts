import { describe, expect, it } from '@jest/globals';
import { readinessOfGroup } from './group-readiness.ts';
import type { Readiness } from './messages.ts';
import type { RunningWorker } from './worker-group.ts';

const READY: Readiness = { notReady: [], degraded: [] };

/** @param readiness undefined if the worker does not answer */
function running(worker: number, serves: boolean, readiness?: Readiness): RunningWorker {
  const process: RunningWorker['process'] = {
    pid: worker,
    ended: new Promise(() => undefined),
    send: () => undefined,
    kill: () => undefined,
    assign: () => Promise.resolve('accepted'),
    readiness: () => Promise.resolve(readiness),
    metrics: () => Promise.resolve(undefined),
  };
  return { worker, serves, process };
}

describe('the readiness of a group', () => {
  it('is given if all its workers are ready', async () => {
    const both = [running(1, true, READY), running(2, true, READY)];
    expect(await readinessOfGroup(both, 2, false)).toEqual(READY);
    expect((await readinessOfGroup(both, 2, true)).notReady).toEqual(['stopping']);
  });

  it('is given with one worker that answers; silent, starting and missing workers count as degraded', async () => {
    const some = [running(1, true, READY), running(2, true), running(3, false, READY)];
    expect(await readinessOfGroup(some, 4, false)).toEqual({
      notReady: [],
      degraded: ['2 of 4 workers do not serve', 'worker 2: does not answer'],
    });
  });

  it('is not given if a worker that accepts connections is not ready; one that starts does not matter', async () => {
    const waits: Readiness = { notReady: ['waiting'], degraded: ['slow'] };
    expect(
      await readinessOfGroup([running(1, true, READY), running(2, false, waits)], 2, false),
    ).toEqual({
      notReady: [],
      degraded: ['1 of 2 workers do not serve', 'worker 2: waiting', 'worker 2: slow'],
    });
    expect(
      await readinessOfGroup([running(1, true, READY), running(2, true, waits)], 2, false),
    ).toEqual({
      notReady: ['worker 2: waiting'],
      degraded: ['worker 2: slow'],
    });
  });

  it('is not given if no worker accepts connections, or none that does answers', async () => {
    expect((await readinessOfGroup([], 2, false)).notReady).toEqual([
      'no worker accepts connections',
    ]);
    const hung = [running(1, true), running(2, true), running(3, false, READY)];
    expect((await readinessOfGroup(hung, 3, false)).notReady).toEqual([
      'no worker that accepts connections answers',
    ]);
  });
});
