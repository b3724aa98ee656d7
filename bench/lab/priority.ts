import { writeFile } from 'node:fs/promises';
import { runCommand } from '@gateway/tools/process/run-command';

/**
 * Gives the main threads of these processes real-time scheduling, so that nothing else on the machine delays them. Their
 * other threads, such as those of the garbage collector, and what they start do not have it: on one core such a thread
 * would delay the main one. `nice` would not do: Linux compares it only between processes of one session.
 *
 * @returns whether this process may do that: it needs the rights of root
 */
export async function giveRealTime(pids: readonly number[]): Promise<boolean> {
  for (const pid of pids) {
    const args = ['--reset-on-fork', '--rr', '--pid', '1', String(pid)];
    const { code } = await runCommand('chrt', args, { timeoutMs: 5_000 });
    if (code !== 0) return false;
  }
  return true;
}

/**
 * Gives these processes, with all their threads, a far larger share of a core than other work on the machine gets. Linux
 * compares the weights of sessions first (sched(7), autogroup), and each process that a run starts is a session of its
 * own. Unlike real-time scheduling it lets threads of one process take turns.
 *
 * @returns whether this process may do that: it needs the rights of root, and a kernel with autogroups
 */
export async function giveLargeShare(pids: readonly number[]): Promise<boolean> {
  try {
    for (const pid of pids) await writeFile(`/proc/${pid}/autogroup`, '-20');
    return true;
  } catch {
    return false;
  }
}
