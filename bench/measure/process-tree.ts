import { readFileSync, readdirSync } from 'node:fs';

/** What a process and everything that it started have used so far. */
export interface TreeUsage {
  /** User and system time, microseconds; threads and ended children included. */
  readonly cpuUs: number;
  readonly residentBytes: number;
}

/** USER_HZ, the unit of /proc/<pid>/stat: 100 on every architecture that Node runs on. */
const TICK_US = 10_000;

/** Positions in /proc/<pid>/stat counted from the field after the command's name (proc(5)). */
const CUTIME = 13;
const CSTIME = 14;

/**
 * Reads the accounting that the kernel keeps for the processes themselves: to the nanosecond for what runs, in
 * clock ticks of 10 ms for children that ended. A thread that ended is not counted; none of those that are
 * measured ends any under load.
 */
export function usageOf(pid: number): TreeUsage {
  let cpuUs = 0;
  let residentKb = 0;
  for (const one of treeOf(pid)) {
    const stat = readStat(one);
    cpuUs += ownCpuUsOf(one) + (Number(stat[CUTIME]) + Number(stat[CSTIME])) * TICK_US;
    residentKb += residentKbOf(one);
  }
  return { cpuUs, residentBytes: residentKb * 1024 };
}

/** User and system time of the process alone, microseconds; its threads included. */
export function ownCpuUsOf(pid: number): number {
  // The first number is the time on a core, ns (Documentation/scheduler/sched-stats.rst of Linux).
  const ns = readdirSync(`/proc/${pid}/task`).map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ', 1)[0]),
  );
  return ns.reduce((sum, one) => sum + one, 0) / 1000;
}

function readStat(pid: number): string[] {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name is in brackets and may hold anything, brackets and blanks too.
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function residentKbOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
}

function treeOf(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean),
  );
  return [pid, ...children.flatMap((child) => treeOf(Number(child)))];
}
