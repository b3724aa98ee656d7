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

/** Every file below the folder; gzip content is also returned decompressed. */
export async function filesBelow(folder: string): Promise<ReadonlyMap<string, Buffer>> {
  const files = new Map<string, Buffer>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = path.join(entry.parentPath, entry.name);
    // A running server may remove a file in between.
    const content = await readFile(file).catch(() => undefined);
    if (content === undefined) continue;
    files.set(file, content);
    const unpacked = unpackedOf(content);
    if (unpacked !== undefined) files.set(`${file} (unpacked)`, unpacked);
  }
  return files;
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
