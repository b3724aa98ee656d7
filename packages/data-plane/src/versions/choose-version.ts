import { hashText, mixBits } from '../routing-table/hash-text.ts';
import type { CompiledVersion } from '../routing-table/routing-table.ts';

/**
 * Which version a caller gets: weighted rendezvous hashing. Every version draws a number from the
 * caller and its own seed, and the weight raises it; the highest wins. It needs no state, so every
 * data plane gives a caller the same version, and the shares are those of the weights.
 *
 * Raising a version's weight raises its number alone, so callers move to it and nobody from it. The
 * order of the versions, and those that a caller does not get, mean nothing.
 * Source: Thaler and Ravishankar, "Using Name-Based Mappings to Increase Hit Rates" (1998); the score
 * −weight / ln(u) makes the shares exact for any weights (Schindelhauer and Schomaker, 2005).
 *
 * @param versions at least one, the weight of one at least above 0
 * @param subject who calls: equal texts get equal versions
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
    // In (0, 1), both ends left out: the logarithm is neither 0 nor infinite.
    const drawn = (mixBits(mixBits(hash ^ version.seed) + version.seed) + 0.5) / 2 ** 32;
    const score = -version.weight / Math.log(drawn);
    if (score > highest) {
      chosen = version;
      highest = score;
    }
  }
  return chosen;
}
