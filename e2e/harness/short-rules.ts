import { readFile, writeFile } from 'node:fs/promises';

const deployed = new URL('../../deploy/prometheus/rules.yml', import.meta.url);
const FOR = /^( +for: )(\S+)$/gm;
/** Prometheus scrapes nothing for some seconds after its start, so an alert about targets has to last longer. */
const OF_TARGETS = '2m';
/** Of a group, between two evaluations. */
const INTERVAL = /^ +interval: \S+$/gm;
/** How long a data plane may take for a new version. */
const BEHIND = /offset 2m\b/g;

/**
 * Writes a copy of the delivered rules, so that a test sees within seconds what an operator sees within minutes. Only
 * times differ: a condition has to last for two evaluations, and all groups are evaluated as often as targets are
 * scraped. A gauge that is above its bound for a moment must not be a page here either.
 */
export async function writeShortRules(file: string): Promise<void> {
  const text = await readFile(deployed, 'utf8');
  await writeFile(file, short(text));
}

function short(text: string): string {
  return text
    .replaceAll(
      FOR,
      (_line, key: string, time: string) => key + (time === OF_TARGETS ? '10s' : '2s'),
    )
    .replaceAll(INTERVAL, '')
    .replaceAll(BEHIND, 'offset 2s');
}
