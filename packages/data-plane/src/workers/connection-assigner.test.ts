import { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import {
  ConnectionAssigner,
  type ConnectionWorker,
  type UnassignedReason,
} from './connection-assigner.ts';
import type { Assignment } from './messages.ts';

class FakeWorker implements ConnectionWorker {
  readonly assigned: Socket[] = [];
  #answer: ((result: Assignment | 'ended') => void) | undefined;
  assign(socket: Socket): Promise<Assignment | 'ended'> {
    this.assigned.push(socket);
    return new Promise((resolve) => (this.#answer = resolve));
  }
  async answer(result: Assignment | 'ended'): Promise<void> {
    this.#answer?.(result);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const MAX_WAITING = 3;

function setUp(count: number) {
  const unassigned: UnassignedReason[] = [];
  const assigner = new ConnectionAssigner(MAX_WAITING, (why) => void unassigned.push(why));
  const workers = Array.from({ length: count }, () => new FakeWorker());
  for (const worker of workers) assigner.add(worker);
  const connect = () => {
    const socket = new Socket();
    assigner.accept(socket);
    return socket;
  };
  return { assigner, unassigned, workers, connect };
}

describe('the connections of a group', () => {
  it('are all assigned once no worker has one to answer for', async () => {
    const { assigner, workers, connect } = setUp(1);
    await assigner.allAssigned();
    connect();
    connect();
    let done = false;
    const assigned = assigner.allAssigned().then(() => (done = true));
    await workers[0]?.answer('accepted');
    expect(done).toBe(false);
    await workers[0]?.answer('accepted');
    await assigned;
    expect(workers[0]?.assigned).toHaveLength(2);
  });

  it('go to the workers in turn, and a worker keeps what it accepted', async () => {
    const { unassigned, workers, connect } = setUp(3);
    const sockets: Socket[] = [];
    for (let round = 0; round < 4; round += 1) {
      for (const worker of workers) {
        sockets.push(connect());
        await worker.answer('accepted');
      }
    }
    expect(workers.map(({ assigned }) => assigned.length)).toEqual([4, 4, 4]);
    expect(unassigned).toEqual([]);
    // The primary closes its own descriptor.
    expect(sockets.every(({ destroyed }) => destroyed)).toBe(true);
  });

  it('go one at a time to a worker, and past one that does not answer', async () => {
    const { workers, connect } = setUp(2);
    const [hung, other] = workers;
    for (let call = 0; call < 5; call += 1) {
      connect();
      await other?.answer('accepted');
    }
    expect([hung?.assigned.length, other?.assigned.length]).toEqual([1, 4]);
  });

  it('wait until a worker is free', async () => {
    const { assigner, workers, connect } = setUp(1);
    const [first] = workers;
    connect();
    const [second, third] = [connect(), connect()];
    expect(first?.assigned).toHaveLength(1);
    const added = new FakeWorker();
    assigner.add(added);
    expect(added.assigned).toEqual([second]);
    await first?.answer('accepted');
    expect(first?.assigned.at(-1)).toBe(third);
  });

  it('go to another worker if one declines them, which then gets no more', async () => {
    const { unassigned, workers, connect } = setUp(2);
    const [leaving, other] = workers;
    const socket = connect();
    await leaving?.answer('declined');
    expect(other?.assigned).toEqual([socket]);
    await other?.answer('accepted');
    connect();
    expect([leaving?.assigned.length, other?.assigned.length]).toEqual([1, 2]);
    expect(unassigned).toEqual([]);
  });

  it('are closed if a worker did not receive them, or ended with them', async () => {
    const { assigner, unassigned, workers, connect } = setUp(2);
    const [full, crashed] = workers;
    const sockets = [connect(), connect()];
    await full?.answer('not_received');
    if (crashed !== undefined) assigner.remove(crashed);
    await crashed?.answer('ended');
    expect(unassigned).toEqual(['no_open_files', 'worker_ended']);
    expect(sockets.every(({ destroyed }) => destroyed)).toBe(true);
    connect();
    expect([full?.assigned.length, crashed?.assigned.length]).toEqual([2, 1]);
  });

  it('are closed when the group stops, if no worker has accepted them', async () => {
    const { assigner, unassigned, workers, connect } = setUp(1);
    const sockets = [connect(), connect()];
    assigner.stop();
    await workers[0]?.answer('declined');
    sockets.push(connect());
    expect(unassigned).toEqual(['stopping', 'stopping', 'stopping']);
    expect(sockets.every(({ destroyed }) => destroyed)).toBe(true);
  });

  it('are closed if too many wait already', async () => {
    const { assigner, unassigned, connect } = setUp(0);
    const sockets = Array.from({ length: MAX_WAITING + 2 }, connect);
    expect(unassigned).toEqual(['too_many_waiting', 'too_many_waiting']);
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual([false, false, false, true, true]);
    const worker = new FakeWorker();
    assigner.add(worker);
    const later = connect();
    for (let round = 0; round < MAX_WAITING; round += 1) await worker.answer('accepted');
    expect(worker.assigned).toEqual([...sockets.slice(0, MAX_WAITING), later]);
  });

  it('are forgotten if their caller leaves while they wait', () => {
    const { assigner, unassigned, connect } = setUp(0);
    connect().destroy();
    const worker = new FakeWorker();
    assigner.add(worker);
    expect([worker.assigned, unassigned]).toEqual([[], []]);
  });
});
