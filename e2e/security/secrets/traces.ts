import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';

/** The forms of a text: plain, in hex, in URLs, and inside base64 at any offset. */
function formsOf(text: string): readonly string[] {
  const bytes = Buffer.from(text, 'utf8');
  const base64 = [0, 1, 2].map((offset) => {
    const whole = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    // The characters at both ends depend on the neighbouring bytes.
    return whole.slice(offset === 0 ? 0 : 4, -4).replaceAll('=', '');
  });
  const hex = bytes.toString('hex');
  const forms = [text, hex, hex.toUpperCase(), ...base64];
  return [...new Set([...forms, ...base64.map(urlSafe), encodeURIComponent(text)])];
}

function urlSafe(base64: string): string {
  return base64.replaceAll('+', '-').replaceAll('/', '_');
}

/** The indices of the texts that the content contains in any form. */
export function tracesIn(content: string | Buffer, texts: readonly string[]): readonly number[] {
  const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : content;
  return texts.flatMap((text, at) => {
    return formsOf(text).some((form) => bytes.includes(Buffer.from(form, 'latin1'))) ? [at] : [];
  });
}

/**
 * Every file below the folder; gzip content is also returned decompressed. A running server or another suite may remove a
 * file or a folder meanwhile: it is left out. `readdir` with `recursive` would fail.
 *
 * @throws if a file or a folder cannot be read: it could hold what is searched for
 */
export async function filesBelow(folder: string): Promise<ReadonlyMap<string, Buffer>> {
  const files = new Map<string, Buffer>();
  for (const entry of await unlessRemoved(readdir(folder, { withFileTypes: true }), [])) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) {
      for (const [below, content] of await filesBelow(file)) files.set(below, content);
    }
    if (!entry.isFile()) continue;
    const content = await unlessRemoved(readFile(file), undefined);
    if (content === undefined) continue;
    files.set(file, content);
    const unpacked = unpackedOf(content);
    if (unpacked !== undefined) files.set(`${file} (unpacked)`, unpacked);
  }
  return files;
}

async function unlessRemoved<T, U>(reading: Promise<T>, otherwise: U): Promise<T | U> {
  try {
    return await reading;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return otherwise;
  }
}

const GZIP_START = Buffer.from([0x1f, 0x8b, 0x08]);

function unpackedOf(content: Buffer): Buffer | undefined {
  const start = content.indexOf(GZIP_START);
  if (start === -1) return undefined;
  try {
    return gunzipSync(content.subarray(start));
  } catch {
    return undefined;
  }
}
