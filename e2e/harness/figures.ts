/** The value of one series (name and labels) of a process's metrics; 0 if it has none. */
export async function metric(adminUrl: string, series: string): Promise<number> {
  const response = await fetch(`${adminUrl}/metrics`);
  const lines = (await response.text()).split('\n');
  const line = lines.find((one) => one.startsWith(`${series} `));
  return Number(line?.slice(series.length + 1) ?? 0);
}

/** The value of a metric, all its series together; NaN if the process does not have it. */
export async function readMetric(adminUrl: string, name: string): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  const series = text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'));
  const values = [...series].map(([, value]) => Number(value));
  return values.length === 0 ? NaN : values.reduce((sum, value) => sum + value, 0);
}

/** Resident memory of a process, in bytes. */
export function residentBytes(adminUrl: string): Promise<number> {
  return readMetric(adminUrl, 'process_resident_memory_bytes');
}

/** Connections of callers that a data plane holds. */
export function openConnections(adminUrl: string): Promise<number> {
  return readMetric(adminUrl, 'gateway_connections');
}

/**
 * The smallest value such that the given share of the values is not above it (nearest rank).
 *
 * @param rank from above 0 to 1: 0.5 is the median, 1 the largest.
 */
export function percentile(values: readonly number[], rank: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(rank * sorted.length) - 1] ?? Number.NaN;
}
