import { cpus, release, totalmem } from 'node:os';

/** The machine and the versions of what ran on it, as a Markdown list. The lockfile has those of libraries. */
export function describeRun(toolVersions: readonly string[], date: Date): string {
  const [first] = cpus();
  return [
    `- date: ${date.toISOString().slice(0, 10)}`,
    `- machine: ${first?.model.trim() ?? 'unknown CPU'}, ${cpus().length} cores, ` +
      `${(totalmem() / 2 ** 30).toFixed(0)} GiB, Linux ${release()}`,
    `- Node ${process.versions.node}, ${toolVersions.join(', ')}`,
  ].join('\n');
}
