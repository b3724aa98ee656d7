/** A well-mixed 32-bit hash, the same in every process. Not for secrets. */
export function hashText(text: string): number {
  // FNV-1a (draft-eastlake-fnv), then the finaliser, as FNV alone leaves the last bytes in few bits.
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return mixBits(hash);
}

/** The 32-bit finaliser of MurmurHash3: every bit of the input moves half of the bits of the result. */
export function mixBits(bits: number): number {
  let hash = bits;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/**
 * The score of a candidate for a caller in weighted rendezvous hashing; the highest one wins. Without state, everybody
 * chooses the same candidate for a caller, whatever the order, and the shares follow the weights. A candidate that is
 * added, or whose weight rises, takes callers from the others, and one that is lost gives its own to them; nobody else
 * moves.
 * Source: Thaler and Ravishankar, "Using Name-Based Mappings to Increase Hit Rates" (1998); −weight / ln(u) makes the
 * shares exact for any weights (Schindelhauer and Schomaker, 2005).
 *
 * @param hash of the caller
 * @param seed a hash of what names the candidate
 */
export function rendezvousScore(hash: number, seed: number, weight: number): number {
  // In the open interval (0, 1), so that the logarithm is neither 0 nor infinite.
  const drawn = (mixBits(mixBits(hash ^ seed) + seed) + 0.5) / 2 ** 32;
  return -weight / Math.log(drawn);
}
