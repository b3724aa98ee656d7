import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { closeAfterEach } from '../../test/opened.ts';
import { PortBlock } from './port-block.ts';

/** Below the ports of other tests. */
const RANGE = { first: 11_000, blocks: 100, portsPerBlock: 4 };
const FIRST = RANGE.first + (process.pid % RANGE.blocks) * RANGE.portsPerBlock;

describe('the ports of a process', () => {
  const opened = closeAfterEach();
  const blockOf = (pid: number, start = 0) => new PortBlock(RANGE, { pid, start });
  const take = async (port: number) => {
    const server = opened(createServer());
    await once(server.listen(port, '127.0.0.1'), 'listening');
  };
  const ask = async (block: PortBlock, count: number) => {
    const ports: (number | undefined)[] = [];
    while (ports.length < count) ports.push(await block.findFree());
    return ports;
  };

  it('are given in turn, from the start', async () => {
    expect(await ask(blockOf(process.pid, 2), 5)).toEqual([2, 3, 0, 1, 2].map((at) => FIRST + at));
  });

  it('differ from those of the next process, and repeat after all blocks', () => {
    const pids = [0, 1, 99, 100];
    expect(pids.map((pid) => blockOf(pid)).map(({ first, last }) => [first, last])).toEqual([
      [11_000, 11_003],
      [11_004, 11_007],
      [11_396, 11_399],
      [11_000, 11_003],
    ]);
  });

  it('leave out those that another process listens on', async () => {
    await take(FIRST + 1);
    expect(await ask(blockOf(process.pid), 4)).toEqual([0, 2, 3, 0].map((at) => FIRST + at));
  });

  it('end after so many tries, and when all are taken', async () => {
    await take(FIRST);
    await take(FIRST + 1);
    const block = blockOf(process.pid);
    expect(await block.findFree(2)).toBeUndefined();
    expect(await block.findFree(2)).toBe(FIRST + 2);
    await take(FIRST + 2);
    await take(FIRST + 3);
    expect(await block.findFree()).toBeUndefined();
  });

  it('are not given if they cannot be probed', async () => {
    const beyond = new PortBlock({ ...RANGE, first: 65_536 }, { pid: 0, start: 0 });
    await expect(beyond.findFree()).rejects.toThrow('65536');
  });
});
