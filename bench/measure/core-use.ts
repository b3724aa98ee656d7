import { readFileSync } from 'node:fs';

/** Busy time of one core since boot, microseconds, including time that the hypervisor gave to others. */
export function busyUsOf(core: number): number {
  const line = readFileSync('/proc/stat', 'utf8')
    .split('\n')
    .find((one) => one.startsWith(`cpu${core} `));
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = (line ?? '')
    .split(' ')
    .slice(1)
    .map(Number);
  return (user + nice + system + irq + softirq + steal) * 10_000;
}
