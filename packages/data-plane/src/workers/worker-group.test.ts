import { describe, expect, it } from '@jest/globals';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { pino } from 'pino';
import {
  WorkerGroup,
  type WorkerEnd,
  type WorkerNews,
  type WorkerProcess,
} from './worker-group.ts';

const HANG_MS = 30_000;
const CRASH: WorkerEnd = { code: 1, signal: null };

class FakeWorker implements WorkerProcess {
  readonly pid = 1;
  readonly sent: string[] = [];
  hangs = false;
  readonly #end = Promise.withResolvers<WorkerEnd>();
  readonly ended = this.#end.promise;
  readonly worker: number;
  readonly say: (news: WorkerNews) => void;
  constructor(worker: number, say: (news: WorkerNews) => void) {
    this.worker = worker;
    this.say = say;
  }
  send(what: 'stop' | 'reload' | 'ping'): void {
    if (what !== 'ping') this.sent.push(what);
    // A worker that hangs does not answer.
    else if (!this.hangs) this.say({ kind: 'alive' });
  }
  assign = () => Promise.resolve('accepted' as const);
  readiness = () => Promise.resolve(undefined);
  metrics = () => Promise.resolve(undefined);
  kill(): void {
    this.#end.resolve({ code: null, signal: 'SIGKILL' });
  }
  /** Resolves when the group has noticed. */
  async end(how: WorkerEnd): Promise<void> {
    this.#end.resolve(how);
    await settled();
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

function setUp(workers: number) {
  const launched: FakeWorker[] = [];
  const startingGroup: boolean[] = [];
  const restarts: string[] = [];
  const accepting: unknown[] = [];
  const clock = manualClock();
  const group = new WorkerGroup({
    workers,
    launch(worker, say, startsGroup) {
      const fake = new FakeWorker(worker, say);
      launched.push(fake);
      startingGroup.push(startsGroup);
      return fake;
    },
    clock,
    hangTimeoutMs: HANG_MS,
    random: () => 0,
    log: pino({ level: 'silent' }),
    restarted: (why) => void restarts.push(why),
    connections: {
      add: (worker) => void accepting.push(worker),
      remove: (worker) =>
        void accepting.splice(accepting.indexOf(worker), accepting.includes(worker) ? 1 : 0),
    },
  });
  const last = (): FakeWorker => {
    const worker = launched.at(-1);
    if (worker === undefined) throw new Error('no worker was launched');
    return worker;
  };
  return { group, launched, startingGroup, restarts, accepting, clock, last };
}

async function serving(workers: number) {
  const world = setUp(workers);
  const starting = world.group.start(() => Promise.resolve());
  world.last().say({ kind: 'serving' });
  await starting;
  for (const worker of world.launched.slice(1)) worker.say({ kind: 'serving' });
  return world;
}

describe('a group of workers', () => {
  it('tells only the first worker of its start that the group depends on it', async () => {
    const { launched, startingGroup, clock } = await serving(2);
    await launched[0]?.end(CRASH);
    clock.advance(1000);
    expect(startingGroup).toEqual([true, false, false]);
  });

  it('starts the others when the first one serves', async () => {
    const { group, launched, last } = setUp(3);
    const starting = group.start(() => Promise.resolve());
    expect(launched.map(({ worker }) => worker)).toEqual([1]);
    last().say({ kind: 'serving' });
    await starting;
    expect(launched.map(({ worker }) => worker)).toEqual([1, 2, 3]);
    expect([group.count('serving'), group.count('starting')]).toEqual([1, 2]);
  });

  it('runs what it is given when the first one serves, before it starts the others', async () => {
    const { group, launched, last } = setUp(2);
    const starting = group.start(() => Promise.reject(new Error('port 80 is in use')));
    last().say({ kind: 'serving' });
    await expect(starting).rejects.toThrow('port 80 is in use');
    expect(launched).toHaveLength(1);
  });

  it('reports which workers accept connections', async () => {
    const { launched, accepting, clock, last } = await serving(3);
    expect(accepting).toEqual(launched);
    launched[0]?.say({ kind: 'leaving' });
    await launched[1]?.end(CRASH);
    expect(accepting).toEqual([launched[2]]);
    clock.advance(200);
    last().say({ kind: 'serving' });
    expect(accepting).toEqual([launched[2], last()]);
  });

  it('fails to start if the first one does, with its reason', async () => {
    const { group, launched, last } = setUp(3);
    const starting = group.start(() => Promise.resolve());
    last().say({ kind: 'failed', reason: 'port 80 is in use' });
    void last().end(CRASH);
    await expect(starting).rejects.toThrow('port 80 is in use');
    expect(launched).toHaveLength(1);
  });

  it('replaces a worker that was stopped at once, in the same place', async () => {
    const { group, launched, restarts } = await serving(2);
    launched[1]?.say({ kind: 'leaving' });
    expect(group.running.map(({ serves }) => serves)).toEqual([true, false]);
    await launched[1]?.end({ code: 0, signal: null });
    expect(launched.map(({ worker }) => worker)).toEqual([1, 2, 2]);
    expect(restarts).toEqual(['stopped']);
  });

  it('restarts a crashed worker with a back-off that doubles, and starts from 200 ms again after a minute', async () => {
    const { launched, restarts, clock, last } = await serving(2);
    for (const delayMs of [200, 400, 800]) {
      await last().end(CRASH);
      const before = launched.length;
      clock.advance(delayMs - 1);
      expect(launched).toHaveLength(before);
      clock.advance(1);
      expect(launched).toHaveLength(before + 1);
      expect(last().worker).toBe(2);
    }
    last().say({ kind: 'serving' });
    clock.advance(60_000);
    await last().end({ code: null, signal: 'SIGSEGV' });
    const before = launched.length;
    clock.advance(200);
    expect(launched).toHaveLength(before + 1);
    expect(restarts).toEqual(Array(4).fill('crashed'));
  });

  it('kills and replaces a worker that hangs, also while it leaves; workers that answer stay', async () => {
    const { group, launched, restarts, clock } = await serving(3);
    const [, hung, left] = launched;
    if (hung === undefined || left === undefined) throw new Error('three workers were launched');
    hung.hangs = true;
    left.say({ kind: 'leaving' });
    left.hangs = true;
    clock.advance(HANG_MS - 1);
    await settled();
    expect(group.running).toHaveLength(3);
    clock.advance(HANG_MS);
    await settled();
    expect(await Promise.all([hung.ended, left.ended])).toEqual(
      Array(2).fill({ code: null, signal: 'SIGKILL' }),
    );
    clock.advance(200);
    expect(launched.map(({ worker }) => worker)).toEqual([1, 2, 3, 2, 3]);
    expect(restarts).toEqual(['hung', 'hung']);
    clock.advance(10 * HANG_MS);
    await settled();
    expect(launched).toHaveLength(5);
  });

  it('does not kill a worker that is starting, however long that takes', async () => {
    const { launched, clock, last } = await serving(2);
    await last().end(CRASH);
    clock.advance(200);
    last().hangs = true;
    clock.advance(10 * HANG_MS);
    await settled();
    expect(launched).toHaveLength(3);
  });

  it('lets all drain at a stop, starts no other, and kills those that do not end in time', async () => {
    const { group, launched, clock } = await serving(3);
    await launched[0]?.end(CRASH);
    const stopping = group.stop(5000);
    expect(launched.map(({ sent }) => sent)).toEqual([[], ['stop'], ['stop']]);
    await launched[1]?.end({ code: 0, signal: null });
    clock.advance(5000);
    await stopping;
    clock.advance(60_000);
    expect(launched).toHaveLength(3);
    expect(await launched[2]?.ended).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it('lets all running workers read the certificate again', async () => {
    const { group, launched } = await serving(2);
    group.reload();
    expect(launched.map(({ sent }) => sent)).toEqual([['reload'], ['reload']]);
  });
});
