import { existsSync } from 'node:fs';
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { errorCode } from '@gateway/tools/process/errors';
import type { Run } from '../lab/run.ts';
import { treeOf } from '../measure/process-tree.ts';

const ROOT = '/sys/fs/cgroup';

/**
 * Limits the memory that a process and its present and later descendants have together, with what they read into the page
 * cache from now on. A limit below the size of a table makes reads as slow as on a machine with so much memory. The limit
 * ends with the run.
 *
 * @throws if this is not Linux with control groups (of either version of the kernel's interface), or not root
 */
export async function limitMemory(run: Pick<Run, 'defer'>, pid: number, bytes: number) {
  const isFirst = existsSync(path.join(ROOT, 'memory/memory.limit_in_bytes'));
  const above = isFirst ? path.join(ROOT, 'memory') : ROOT;
  const group = path.join(above, `gateway-bench-${process.pid}`);
  const members = path.join(group, 'cgroup.procs');
  try {
    if (!isFirst) await writeFile(path.join(ROOT, 'cgroup.subtree_control'), '+memory');
    await mkdir(group);
    run.defer(async () => {
      // A group with processes cannot be removed.
      const pids = (await readFile(members, 'utf8')).split('\n').filter(Boolean);
      for (const one of pids) await move(one, path.join(above, 'cgroup.procs'));
      await rmdir(group);
    });
    const limit = isFirst ? 'memory.limit_in_bytes' : 'memory.max';
    await writeFile(path.join(group, limit), String(bytes));
    // First the process: what it starts from now on is in the group.
    await writeFile(members, String(pid));
    for (const one of treeOf(pid)) await move(String(one), members);
  } catch (cause) {
    throw new Error('the memory limit needs Linux with control groups, and root', { cause });
  }
}

/** Does nothing if the process has ended. */
async function move(pid: string, members: string): Promise<void> {
  try {
    await writeFile(members, pid);
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error;
  }
}
