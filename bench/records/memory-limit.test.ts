import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { UndoList } from '@gateway/shared/test/undo-list';
import { limitMemory } from './memory-limit.ts';

const MIB = 1024 * 1024;
const ROOT = '/sys/fs/cgroup/memory';
const GROUP = `gateway-bench-${process.pid}`;
/** Above the largest pid of Linux. */
const NO_PID = 2 ** 30;

const canLimit = process.getuid?.() === 0 && existsSync(`${ROOT}/memory.limit_in_bytes`);
const groupOf = (pid: number) =>
  /:memory:(.*)$/m.exec(readFileSync(`/proc/${pid}/cgroup`, 'utf8'))?.[1];

(canLimit ? describe : describe.skip)('a group of limited memory', () => {
  const opened = closeAfterEach();

  async function startParent() {
    const parent = spawn('/bin/sh', ['-c', 'sleep 60 & echo $!; wait']);
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    const child = Number(line.toString());
    opened({
      close: () => {
        process.kill(child);
        parent.kill();
      },
    });
    return { pids: [parent.pid ?? 0, child] as const };
  }

  it('holds a process and its descendants, and gives them back to the group above', async () => {
    const { pids } = await startParent();
    const undo = new UndoList();
    await limitMemory({ defer: (close) => undo.add(close) }, pids[0], 64 * MIB);
    expect(pids.map(groupOf)).toEqual([`/${GROUP}`, `/${GROUP}`]);
    expect(readFileSync(`${ROOT}/${GROUP}/memory.limit_in_bytes`, 'utf8')).toBe(`${64 * MIB}\n`);
    await undo.run();
    expect(existsSync(`${ROOT}/${GROUP}`)).toBe(false);
    expect(pids.map(groupOf)).toEqual(['/', '/']);
  });

  it.each([
    ['a process cannot be added', NO_PID, 64 * MIB],
    ['the limit cannot be set', process.pid, Number.NaN],
  ])('is removed if %s', async (_what, pid, bytes) => {
    const undo = new UndoList();
    const limiting = limitMemory({ defer: (close) => undo.add(close) }, pid, bytes);
    await expect(limiting).rejects.toThrow('the memory limit needs Linux');
    await undo.run();
    expect(existsSync(`${ROOT}/${GROUP}`)).toBe(false);
  });
});
