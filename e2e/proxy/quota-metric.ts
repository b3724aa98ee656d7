/** The value of one series of a process's metrics, 0 where it has none. */
export async function metric(adminUrl: string, series: string): Promise<number> {
  const response = await fetch(`${adminUrl}/metrics`);
  const lines = (await response.text()).split('\n');
  const line = lines.find((one) => one.startsWith(`${series} `));
  return Number(line?.slice(series.length + 1) ?? 0);
}
