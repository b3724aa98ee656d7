import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { closeUndealtConnections, type UndealtReason } from './undealt-connections.ts';

function setUp() {
  const undealt: UndealtReason[] = [];
  /** What node:cluster hears of a connection, by its number. */
  const heard: unknown[] = [];
  const state = { stopping: false };
  const child = Object.assign(new EventEmitter(), {
    send: (message: unknown) => message !== undefined,
  });
  child.on('internalMessage', ({ ack, accepted }: { ack?: number; accepted?: boolean }) => {
    if (ack !== undefined) heard.push([ack, accepted]);
  });
  closeUndealtConnections(child as unknown as ChildProcess, {
    undealt: (why) => void undealt.push(why),
    stopping: () => state.stopping,
  });
  return {
    ...{ undealt, heard, state, child },
    deal: (seq: number) => child.send({ cmd: 'NODE_CLUSTER', act: 'newconn', seq }),
    answer: (ack: number, accepted: boolean) =>
      child.emit('internalMessage', { cmd: 'NODE_CLUSTER', ack, accepted }),
    lose: () => child.emit('internalMessage', { cmd: 'NODE_HANDLE_NACK' }),
  };
}

describe('a connection that is dealt to a worker', () => {
  it('is left alone where the worker takes it, or leaves it to another', () => {
    const { undealt, heard, child, deal, answer } = setUp();
    deal(1);
    answer(1, true);
    deal(2);
    answer(2, false);
    child.emit('close');
    expect([undealt, heard]).toEqual([
      [],
      [
        [1, true],
        [2, false],
      ],
    ]);
  });

  it('is closed where it did not come to the worker, and where that ended with it', () => {
    const { undealt, heard, child, deal, lose } = setUp();
    deal(1);
    lose();
    deal(2);
    child.emit('close');
    expect(undealt).toEqual(['no_open_files', 'worker_ended']);
    expect(heard).toEqual([
      [1, true],
      [2, true],
    ]);
  });

  it('is closed where a worker refuses it as the whole group stops', () => {
    const { undealt, heard, state, deal, answer } = setUp();
    state.stopping = true;
    deal(1);
    answer(1, false);
    expect([undealt, heard]).toEqual([['stopping'], [[1, true]]]);
  });
});
