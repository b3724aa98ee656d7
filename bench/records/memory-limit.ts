import { existsSync } from 'node:fs';
import { mkdir, rmdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
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
  /** After its processes have ended. */
  remove(): Promise<void>;
}

/** @throws if this is not Linux with control groups, or not root */
export async function createMemoryGroup(bytes: number): Promise<MemoryGroup> {
  try {
    const { folder, limitFile } = await memoryGroups();
    const group = path.join(folder, `gateway-bench-${process.pid}`);
    const remove = () => rmdir(group);
    await mkdir(group);
    await writeFile(path.join(group, limitFile), String(bytes)).catch(async (error: unknown) => {
      await remove();
      throw error;
    });
    const add = async (pid: number) => {
      for (const one of treeOf(pid)) await writeFile(path.join(group, 'cgroup.procs'), String(one));
    };
    return { add, remove };
  } catch (cause) {
    throw new Error('the memory limit needs Linux with control groups, and root', { cause });
  }
}
