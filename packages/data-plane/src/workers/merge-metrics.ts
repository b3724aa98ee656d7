/**
 * Merges texts in the Prometheus text format, as prom-client writes it. A metric that is in several of them is described
 * once and its samples follow each other, as the format requires. The samples must differ in a label.
 */
export function mergeMetrics(texts: readonly string[]): string {
  const blocks = new Map<string, string[]>();
  for (const text of texts) {
    for (const block of text.split('\n\n')) {
      const lines = block.split('\n').filter((line) => line !== '');
      const firstSample = lines.findIndex((line) => !line.startsWith('#'));
      const head = lines.slice(0, firstSample === -1 ? lines.length : firstSample).join('\n');
      if (head === '') continue;
      const merged = blocks.get(head) ?? [];
      blocks.set(head, merged);
      if (firstSample !== -1) merged.push(...lines.slice(firstSample));
    }
  }
  return [...blocks].map(([head, samples]) => [head, ...samples, ''].join('\n')).join('\n');
}
