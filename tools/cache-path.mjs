import { homedir } from 'node:os';
import path from 'node:path';

/**
 * Where a download is kept, for all checkouts of this user.
 *
 * @param {string} name
 */
export function cachePath(name) {
  const cache = process.env.XDG_CACHE_HOME ?? path.join(homedir(), '.cache');
  return path.join(cache, 'gateway', name);
}

/**
 * The same for a program, which is of one platform.
 *
 * @param {string} name
 */
export function cachedProgram(name) {
  return cachePath(`${name}-${process.platform}-${process.arch}`);
}
