import { readdirSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { treeOf } from '../measure/process-tree.ts';

/** Gives up the core to other processes whenever they want it, without a root's rights. */
const YIELDING = constants.priority.PRIORITY_LOW;

/**
 * Lowers the priority of all processes that this one has started, but for those given, so that they do not delay what
 * is measured. The processes and threads that they start later inherit it.
 */
export function yieldToMeasured(measured: readonly number[]): void {
  for (const pid of treeOf(process.pid)) {
    if (pid === process.pid || measured.includes(pid)) continue;
    // Linux has a priority for each thread.
    for (const thread of readdirSync(`/proc/${pid}/task`)) setPriority(Number(thread), YIELDING);
  }
}
