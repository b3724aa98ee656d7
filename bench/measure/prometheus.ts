/**
 * Reads /metrics once. The returned function gives a sample by its name and labels, as they stand in the text; 0
 * if there is no such sample.
 */
export async function readMetrics(adminUrl: string): Promise<(name: string) => number> {
  const lines = (await (await fetch(`${adminUrl}/metrics`)).text()).split('\n');
  return (name) => {
    const line = lines.find((one) => one.startsWith(`${name} `));
    return Number(line?.slice(name.length + 1) ?? 0);
  };
}
