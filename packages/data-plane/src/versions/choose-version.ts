import { hashText, rendezvousScore } from '../routing-table/hash-text.ts';
import type { CompiledVersion } from '../routing-table/routing-table.ts';

/**
 * Chooses the version for a caller by weighted rendezvous hashing. Every data plane chooses the same version for a
 * caller, and the shares follow the weights. Callers move to a version whose weight rises, and none move away.
 *
 * @param versions at least one; at least one weight is above 0
 * @param subject identifies the caller; equal subjects get the same version
 */
export function chooseVersion(
  versions: readonly CompiledVersion[],
  subject: string,
): CompiledVersion | undefined {
  if (versions.length === 1) return versions[0];
  const hash = hashText(subject);
  let chosen: CompiledVersion | undefined;
  let highest = 0;
  for (const version of versions) {
    const score = rendezvousScore(hash, version.seed, version.weight);
    if (score > highest) {
      chosen = version;
      highest = score;
    }
  }
  return chosen;
}
