import { cpus, release, totalmem } from 'node:os';
import { commandVersion } from '../lab/tools.ts';
import type { PeerKind } from '../peers/peer.ts';

/** The machine and the version of every row, as a Markdown list. */
export async function describeRun(kinds: readonly PeerKind[], date: Date): Promise<string> {
  const [first] = cpus();
  const versions = await Promise.all(kinds.map((kind) => kind.version()));
  return [
    `- date: ${date.toISOString().slice(0, 10)}`,
    `- machine: ${first?.model.trim() ?? 'unknown CPU'}, ${cpus().length} cores, ` +
      `${(totalmem() / 2 ** 30).toFixed(0)} GiB, Linux ${release()}`,
    `- Node ${process.versions.node}, ${await commandVersion('wrk', ['-v'])}`,
    `- ${[...new Set(versions)].join(', ')}`,
  ].join('\n');
}
