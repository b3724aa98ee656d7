import { hashText, mixBits } from '../routing-table/hash-text.ts';
import type { CompiledVersion } from '../routing-table/routing-table.ts';

/**
 * Chooses the version for a caller by weighted rendezvous hashing. Each version gets a score from the
 * caller, its own seed and its weight; the highest score wins. There is no state, so every data plane
 * chooses the same version for a caller, and the shares follow the weights.
 *
 * Raising the weight of a version raises only its own scores, so callers move to it and none move away.
 * The order of the versions does not matter.
 * Source: Thaler and Ravishankar, "Using Name-Based Mappings to Increase Hit Rates" (1998); the score
 * −weight / ln(u) makes the shares exact for any weights (Schindelhauer and Schomaker, 2005).
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
    // In the open interval (0, 1), so that the logarithm is neither 0 nor infinite.
    const drawn = (mixBits(mixBits(hash ^ version.seed) + version.seed) + 0.5) / 2 ** 32;
    const score = -version.weight / Math.log(drawn);
    if (score > highest) {
      chosen = version;
      highest = score;
    }
  }
  return chosen;
}
