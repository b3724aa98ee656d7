import { writeFile } from 'node:fs/promises';

/**
 * Gives these processes, with all their threads, a far larger share of a core than other work on the machine gets. Linux
 * compares the weights of sessions first (sched(7), autogroup), and each process that a run starts is a session of its
 * own. Real-time scheduling would not do: Linux stops its threads for 50 ms when they have used 950 ms of a second, and the
 * threads that collect garbage, which the main thread waits for, do not have it.
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

/** A sentence about it, for what a run prints. */
export const shareSentence = (isLarge: boolean) =>
  isLarge
    ? 'What is measured gets a larger share of the cores than other work.'
    : 'Other work on the machine counts fully.';
