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

/**
 * Limits the memory of a process and its present and later descendants, with what they read into the page cache from now
 * on. A limit below the size of a table makes reads as slow as on a machine with so much memory.
 *
 * @returns a function that removes the control group after the processes have ended
 * @throws if this is not Linux with control groups, or not root
 */
export async function limitMemory(pid: number, bytes: number): Promise<() => Promise<void>> {
  try {
    const { folder, limitFile } = await memoryGroups();
    const group = path.join(folder, `gateway-bench-${process.pid}`);
    await mkdir(group);
    await writeFile(path.join(group, limitFile), String(bytes));
    for (const one of treeOf(pid)) await writeFile(path.join(group, 'cgroup.procs'), String(one));
    return () => rmdir(group);
  } catch (cause) {
    throw new Error('the memory limit needs Linux with control groups, and root', { cause });
  }
}
