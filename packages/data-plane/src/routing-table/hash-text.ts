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
