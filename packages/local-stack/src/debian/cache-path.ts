import { homedir } from 'node:os';
import path from 'node:path';

/** Where a downloaded program is kept, for this platform and all checkouts of this user. */
export function cachePath(name: string): string {
  const cache = process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache');
  return path.join(cache, 'gateway', `${name}-${process.platform}-${process.arch}`);
}
