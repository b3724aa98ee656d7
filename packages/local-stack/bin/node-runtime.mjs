// Which Node runs the TypeScript sources.
import { existsSync } from 'node:fs';
import path from 'node:path';

const minimumMajor = 24;

/**
 * The Node that the lockfile pins for this platform, else the running one when it is new enough,
 * else undefined. The binary itself and not the link in node_modules/.bin, which is a shell script
 * that sets NODE_PATH for everything below it.
 */
export function findNode(root) {
  const platform = `${process.platform}-${process.arch}`;
  for (const name of [`node-${platform}`, `node-bin-${platform}`]) {
    const binary = path.join(root, 'node_modules', name, 'bin', 'node');
    if (existsSync(binary)) return binary;
  }
  return Number.parseInt(process.versions.node, 10) >= minimumMajor ? process.execPath : undefined;
}
