import { inflateRawSync } from 'node:zlib';

const [END, CENTRAL] = [0x06054b50, 0x02014b50];
const END_BYTES = 22;
const [STORED, DEFLATED] = [0, 8];

/**
 * One file of a ZIP archive.
 *
 * @see PKWARE's APPNOTE.TXT, 4.3
 * @throws Error if the archive has no such file, or has it in another form than stored or deflated
 */
export function zipEntry(archive: Buffer, name: string): Buffer {
  // The end of the central directory, without a comment behind it.
  const end = archive.length - END_BYTES;
  if (archive.readUInt32LE(end) !== END) throw new Error('not a ZIP archive without a comment');
  let at = archive.readUInt32LE(end + 16);
  while (archive.readUInt32LE(at) === CENTRAL) {
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((offset) =>
      archive.readUInt16LE(at + offset),
    ) as [number, number, number];
    if (archive.toString('utf8', at + 46, at + 46 + nameBytes) === name) {
      return content(archive, at);
    }
    at += 46 + nameBytes + extraBytes + commentBytes;
  }
  throw new Error(`the ZIP archive has no ${name}`);
}

function content(archive: Buffer, central: number): Buffer {
  const method = archive.readUInt16LE(central + 10);
  const size = archive.readUInt32LE(central + 20);
  const local = archive.readUInt32LE(central + 42);
  const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
  const bytes = archive.subarray(start, start + size);
  if (method === STORED) return bytes;
  if (method === DEFLATED) return inflateRawSync(bytes);
  throw new Error(`a file of a ZIP archive with the unknown method ${method}`);
}
