import { readFile, writeFile } from 'node:fs/promises';

const deployed = new URL('../../../deploy/prometheus/rules.yml', import.meta.url);
const FOR = /^( +for: )\S+$/gm;

/**
 * Writes a copy of the delivered rules. Only `for` differs: a condition has to last for two evaluations, and not for
 * minutes, so that a test sees within seconds what an operator sees within minutes. A gauge that is above its bound for
 * a moment must not be a page here either.
 */
export async function writeShortRules(file: string): Promise<void> {
  const text = await readFile(deployed, 'utf8');
  await writeFile(file, text.replaceAll(FOR, '$12s'));
}
