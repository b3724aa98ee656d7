/**
 * Makes one text of several in the text format of Prometheus, as prom-client writes it. A metric that
 * stands in several of them is described once, and its values follow on one another, as the format asks;
 * they must differ in a label.
 */
export function mergeMetrics(texts: readonly string[]): string {
  const blocks = new Map<string, string[]>();
  for (const text of texts) {
    for (const block of text.split('\n\n')) {
      const lines = block.split('\n').filter((line) => line !== '');
      const values = lines.findIndex((line) => !line.startsWith('#'));
      const head = lines.slice(0, values === -1 ? lines.length : values).join('\n');
      if (head === '') continue;
      const merged = blocks.get(head) ?? [];
      blocks.set(head, merged);
      if (values !== -1) merged.push(...lines.slice(values));
    }
  }
  return [...blocks].map(([head, values]) => [head, ...values, ''].join('\n')).join('\n');
}
