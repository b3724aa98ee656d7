/** What an ELF file needs beside itself to run. */
export interface Needed {
  /** The path of its loader; undefined for a library. */
  readonly loader: string | undefined;
  /** The names of the shared libraries that it loads, such as `libc.so.6`. */
  readonly libraries: readonly string[];
}

interface Segment {
  readonly type: number;
  readonly offset: number;
  readonly address: number;
  readonly size: number;
}

const MAGIC = '\x7fELF';
const [LOAD, DYNAMIC, LOADER] = [1, 2, 3];
const [NEEDED, STRINGS] = [1, 5];
const DYNAMIC_ENTRY_BYTES = 16;

/**
 * Reads which libraries a program of 64 bits, little-endian, needs, as `ldd` does, but also for another processor.
 *
 * @see System V ABI, "Object Files" and "Dynamic Linking"
 * @throws Error if it is another kind of file
 */
export function neededBy(file: Buffer): Needed {
  if (file.toString('latin1', 0, 4) !== MAGIC || file[4] !== 2 || file[5] !== 1) {
    throw new Error('not an ELF file of 64 bits, little-endian');
  }
  const segments = segmentsOf(file);
  const [loader] = segments.filter(({ type }) => type === LOADER);
  const entries = segments
    .filter(({ type }) => type === DYNAMIC)
    .flatMap((one) => dynamic(file, one));
  const strings = entries.find(({ tag }) => tag === STRINGS)?.value ?? 0;
  const libraries = entries
    .filter(({ tag }) => tag === NEEDED)
    .map(({ value }) => textAt(file, offsetOf(segments, strings + value)));
  return { loader: loader && textAt(file, loader.offset), libraries };
}

function segmentsOf(file: Buffer): Segment[] {
  const [start, bytes, count] = [
    Number(file.readBigUInt64LE(32)),
    file.readUInt16LE(54),
    file.readUInt16LE(56),
  ];
  return Array.from({ length: count }, (_, index) => {
    const at = start + index * bytes;
    return {
      type: file.readUInt32LE(at),
      offset: Number(file.readBigUInt64LE(at + 8)),
      address: Number(file.readBigUInt64LE(at + 16)),
      size: Number(file.readBigUInt64LE(at + 32)),
    };
  });
}

function dynamic(file: Buffer, { offset, size }: Segment): { tag: number; value: number }[] {
  return Array.from({ length: size / DYNAMIC_ENTRY_BYTES }, (_, index) => {
    const at = offset + index * DYNAMIC_ENTRY_BYTES;
    return { tag: Number(file.readBigInt64LE(at)), value: Number(file.readBigUInt64LE(at + 8)) };
  });
}

/** Where the file has what is at an address of the memory. */
function offsetOf(segments: readonly Segment[], address: number): number {
  const segment = segments.find(
    (one) => one.type === LOAD && address >= one.address && address < one.address + one.size,
  );
  if (segment === undefined) throw new Error('an ELF file with an address outside of its segments');
  return address - segment.address + segment.offset;
}

function textAt(file: Buffer, offset: number): string {
  return file.toString('latin1', offset, file.indexOf(0, offset));
}
