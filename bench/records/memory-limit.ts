import { existsSync } from 'node:fs';
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { errorCode } from '@gateway/tools/process/errors';
import { UndoList } from '@gateway/shared/test/undo-list';
import { treeOf } from '../measure/process-tree.ts';

const ROOT = '/sys/fs/cgroup';

interface Hierarchy {
  readonly folder: string;
  readonly limitFile: string;
}

/** The control groups for memory, of either version of the kernel's interface. */
async function memoryGroups(): Promise<Hierarchy> {
  if (existsSync(path.join(ROOT, 'memory/memory.limit_in_bytes'))) {
    return { folder: path.join(ROOT, 'memory'), limitFile: 'memory.limit_in_bytes' };
  }
  await writeFile(path.join(ROOT, 'cgroup.subtree_control'), '+memory');
  return { folder: ROOT, limitFile: 'memory.max' };
}

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
 * @throws if this is not Linux with control groups, or not root
 */
export async function createMemoryGroup(bytes: number): Promise<MemoryGroup> {
  const undo = new UndoList();
  const orUndo = <T>(work: () => Promise<T>) =>
    undo.orUndo(work).catch((cause: unknown) => {
      throw new Error('the memory limit needs Linux with control groups, and root', { cause });
    });
  return orUndo(async () => {
    const { folder, limitFile } = await memoryGroups();
    const group = path.join(folder, `gateway-bench-${process.pid}`);
    await mkdir(group);
    undo.add(async () => {
      // A group with processes cannot be removed.
      for (const pid of await membersOf(group)) await move(pid, folder);
      await rmdir(group);
    });
    await writeFile(path.join(group, limitFile), String(bytes));
    return {
      add: (pid) =>
        orUndo(async () => {
          // First: what it starts from now on is in the group.
          await writeFile(path.join(group, MEMBERS), String(pid));
          for (const one of treeOf(pid)) await move(one, group);
        }),
      remove: () => undo.run(),
    };
  });
}

const MEMBERS = 'cgroup.procs';

async function membersOf(group: string): Promise<readonly number[]> {
  const text = await readFile(path.join(group, MEMBERS), 'utf8');
  return text.split('\n').filter(Boolean).map(Number);
}

/** Does nothing if the process has ended. */
async function move(pid: number, group: string): Promise<void> {
  try {
    await writeFile(path.join(group, MEMBERS), String(pid));
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error;
  }
}
