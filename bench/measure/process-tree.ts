import { readFileSync, readdirSync } from 'node:fs';

/** What processes and their descendants have used so far. */
export interface TreeUsage {
  /** User and system time, microseconds, of all threads, descendants and ended children. */
  readonly cpuUs: number;
  readonly residentBytes: number;
}

/** USER_HZ, the unit of /proc/<pid>/stat: 100 on every architecture that Node runs on. */
const TICK_US = 10_000;

/** Positions in /proc/<pid>/stat, counted from the field after the command name (proc(5)). */
const CUTIME = 13;
const CSTIME = 14;

/**
 * Reads the CPU accounting of the kernel: in nanoseconds for running processes, in ticks of 10 ms for ended children.
 * Threads that have ended are not counted; no measured process ends threads under load.
 */
export function usageOf(...pids: readonly number[]): TreeUsage {
  let cpuUs = 0;
  let residentKb = 0;
  for (const one of pids.flatMap(treeOf)) {
    const stat = readStat(one);
    cpuUs += ownCpuUsOf(one) + (Number(stat[CUTIME]) + Number(stat[CSTIME])) * TICK_US;
    residentKb += residentKbOf(one);
  }
  return { cpuUs, residentBytes: residentKb * 1024 };
}

/** User and system time of this process with its threads, without its children, microseconds. */
export function ownCpuUsOf(pid: number): number {
  // The first number is the time on a core in ns (Linux: Documentation/scheduler/sched-stats.rst).
  const ns = readdirSync(`/proc/${pid}/task`).map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ', 1)[0]),
  );
  return ns.reduce((sum, one) => sum + one, 0) / 1000;
}

function readStat(pid: number): string[] {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The command name is in parentheses and may itself contain parentheses and spaces.
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function residentKbOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
}

/** The process and its descendants. */
export function treeOf(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean),
  );
  return [pid, ...children.flatMap((child) => treeOf(Number(child)))];
}

/** Busy time of one core since boot, microseconds, including time that the hypervisor gave to others. */
export function busyUsOf(core: number): number {
  const line = new RegExp(`^cpu${core} (.*)$`, 'm').exec(readFileSync('/proc/stat', 'utf8'))?.[1];
  const ticks = (line ?? '').split(' ').map(Number);
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = ticks;
  return (user + nice + system + irq + softirq + steal) * TICK_US;
}
