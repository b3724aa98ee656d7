/** The value of a metric without labels on the admin port of a process; NaN where there is none. */
export async function readMetric(adminUrl: string, name: string): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  const [, value] = new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text) ?? [];
  return Number(value);
}

/** Resident memory of a process, in bytes. */
export function residentBytes(adminUrl: string): Promise<number> {
  return readMetric(adminUrl, 'process_resident_memory_bytes');
}

/** Connections of callers that a data plane holds. */
export function openConnections(adminUrl: string): Promise<number> {
  return readMetric(adminUrl, 'gateway_connections');
}
