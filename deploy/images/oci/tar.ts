/** A file, folder or link of an archive. Paths are relative, with `/`, and have no trailing slash. */
export type Entry = {
  readonly path: string;
  readonly mode: number;
  /** Owner and group; 0 by default. */
  readonly owner?: number;
} & ({ readonly content: Content } | { readonly target: string } | { readonly isFolder: true });

/** Bytes, or more bytes than should be in memory at once: their number, and where they come from. */
export type Content =
  | Buffer
  | { readonly size: number; readonly read: () => AsyncIterable<Buffer> };

const BLOCK = 512;
const MAX_NAME_BYTES = 100;
const MAX_PREFIX_BYTES = 155;

/**
 * A tar archive in the format of POSIX.1-1988 (ustar), in the order of the entries. Only the entries and the time decide about
 * the bytes: no owner names, no extended headers.
 *
 * @param timeMs the time of all entries, ms since the Unix epoch
 * @throws Error if a path or link is too long for the format
 */
export async function* tar(entries: Iterable<Entry>, timeMs: number): AsyncGenerator<Buffer> {
  for (const entry of entries) {
    const content = 'content' in entry ? entry.content : Buffer.alloc(0);
    const size = Buffer.isBuffer(content) ? content.length : content.size;
    yield header(entry, size, timeMs);
    if (Buffer.isBuffer(content)) yield content;
    else yield* content.read();
    yield Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
  }
  yield Buffer.alloc(2 * BLOCK);
}

function header(entry: Entry, size: number, timeMs: number): Buffer {
  const isFolder = 'isFolder' in entry;
  const { name, prefix } = splitPath(isFolder ? `${entry.path}/` : entry.path);
  const target = 'target' in entry ? entry.target : '';
  if (Buffer.byteLength(target) > MAX_NAME_BYTES) throw new Error(`${target} is too long a link`);
  const block = Buffer.alloc(BLOCK);
  const owner = octal(entry.owner ?? 0, 8);
  block.write(name, 0);
  block.write(octal(entry.mode, 8), 100);
  block.write(owner, 108);
  block.write(owner, 116);
  block.write(octal(size, 12), 124);
  block.write(octal(Math.floor(timeMs / 1000), 12), 136);
  // The checksum is computed with spaces in its place.
  block.write(' '.repeat(8), 148);
  block.write(isFolder ? '5' : target === '' ? '0' : '2', 156);
  block.write(target, 157);
  block.write('ustar\0' + '00', 257);
  block.write(prefix, 345);
  const sum = block.reduce((all, byte) => all + byte, 0);
  block.write(`${octal(sum, 7)} `, 148);
  return block;
}

/** An octal number that fills a field and ends with a NUL. */
function octal(value: number, bytes: number): string {
  return `${value.toString(8).padStart(bytes - 1, '0')}\0`;
}

function splitPath(path: string): { readonly name: string; readonly prefix: string } {
  if (Buffer.byteLength(path) <= MAX_NAME_BYTES) return { name: path, prefix: '' };
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (Buffer.byteLength(name) > MAX_NAME_BYTES || name === '') continue;
    if (Buffer.byteLength(prefix) > MAX_PREFIX_BYTES) break;
    return { name, prefix };
  }
  throw new Error(`${path} is too long for a tar archive`);
}
