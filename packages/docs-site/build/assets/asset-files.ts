import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Where the files are that pages load, on a control plane. */
const ASSETS = '/docs/assets';
const HASH_CHARS = 10;

/** Writes files that browsers keep for a year, because their hash is in their name. */
export interface AssetFiles {
  /** @returns its URL */
  write(name: string, content: string | Buffer): string;
  /** Copies a file, once. @returns its URL */
  copy(file: string): string;
  /** Where bundlers write files that have their hash in their name already. */
  readonly folder: string;
  urlOf(name: string): string;
}

/** @param draft the folder of the site, whose paths are those of URLs */
export function createAssetFiles(draft: string): AssetFiles {
  const folder = path.join(draft, ASSETS);
  mkdirSync(folder, { recursive: true });
  const copied = new Map<string, string>();

  function write(name: string, content: string | Buffer): string {
    const { name: base, ext } = path.parse(name);
    const hash = createHash('sha256').update(content).digest('base64url').slice(0, HASH_CHARS);
    const file = `${base}-${hash}${ext}`;
    writeFileSync(path.join(folder, file), content);
    return `${ASSETS}/${file}`;
  }

  return {
    folder,
    urlOf: (name) => `${ASSETS}/${name}`,
    write,
    copy(file) {
      const url = copied.get(file) ?? write(path.basename(file), readFileSync(file));
      copied.set(file, url);
      return url;
    },
  };
}
