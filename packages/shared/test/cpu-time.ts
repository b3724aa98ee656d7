/** The CPU time of this process while it runs this, ms. A machine that is busy with others does not make it longer. */
export function cpuMsOf(run: () => unknown): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
