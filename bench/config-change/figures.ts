/** The samples of /metrics by name and labels; 0 for what is not there. Each reading begins the histogram of the event loop's delay anew. */
export async function readMetrics(adminUrl: string): Promise<(name: string) => number> {
  const lines = (await (await fetch(`${adminUrl}/metrics`)).text()).split('\n');
  return (name) => {
    const line = lines.find((one) => one.startsWith(`${name} `));
    return Number(line?.slice(name.length + 1) ?? 0);
  };
}

/** @param rank in 0..1 */
export function percentile(values: readonly number[], rank: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * rank))] ?? Number.NaN;
}
