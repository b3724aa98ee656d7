import { existsSync } from 'node:fs';
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { UndoList } from '@gateway/shared/test/undo-list';
import { errorCode } from '@gateway/tools/process/errors';
import { treeOf } from '../measure/process-tree.ts';

const ROOT = '/sys/fs/cgroup';

/** Processes that together have no more than so much memory. */
export interface MemoryGroup {
  /**
   * Limits a process and its present and later descendants, with what they read into the page cache from now on. A limit
   * below the size of a table makes reads as slow as on a machine with so much memory.
   */
  add(pid: number): Promise<void>;
  /** Gives its processes back to the group above, and removes it. */
  remove(): Promise<void>;
}

/**
 * No control group is left if the limit cannot be set, or if a process cannot be added.
 *
 * @throws if this is not Linux with control groups (of either version of the kernel's interface), or not root
 */
export async function createMemoryGroup(bytes: number): Promise<MemoryGroup> {
  const undo = new UndoList();
  const orUndo = <T>(work: () => Promise<T>) =>
    undo.orUndo(work).catch((cause: unknown) => {
      throw new Error('the memory limit needs Linux with control groups, and root', { cause });
    });
  return orUndo(async () => {
    const isFirst = existsSync(path.join(ROOT, 'memory/memory.limit_in_bytes'));
    if (!isFirst) await writeFile(path.join(ROOT, 'cgroup.subtree_control'), '+memory');
    const above = isFirst ? path.join(ROOT, 'memory') : ROOT;
    const group = path.join(above, `gateway-bench-${process.pid}`);
    const members = path.join(group, 'cgroup.procs');
    await mkdir(group);
    undo.add(async () => {
      // A group with processes cannot be removed.
      const pids = (await readFile(members, 'utf8')).split('\n').filter(Boolean);
      for (const pid of pids) await move(pid, path.join(above, 'cgroup.procs'));
      await rmdir(group);
    });
    const limit = isFirst ? 'memory.limit_in_bytes' : 'memory.max';
    await writeFile(path.join(group, limit), String(bytes));
    return {
      add: (pid) =>
        orUndo(async () => {
          // First: what it starts from now on is in the group.
          await writeFile(members, String(pid));
          for (const one of treeOf(pid)) await move(String(one), members);
        }),
      remove: () => undo.run(),
    };
  });
}

/** Does nothing if the process has ended. */
async function move(pid: string, members: string): Promise<void> {
  try {
    await writeFile(members, pid);
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error;
  }
}
