// Finds the Node that runs the TypeScript sources.
import { existsSync } from 'node:fs';
import path from 'node:path';

const minimumMajor = 24;

/**
 * The Node that the lockfile pins for this platform, else the running one if it is new enough, else undefined. Returns the
 * binary and not the link in node_modules/.bin, which is a shell script that sets NODE_PATH for all child processes.
 */
export function findNode(root) {
  const platform = `${process.platform}-${process.arch}`;
  for (const name of [`node-${platform}`, `node-bin-${platform}`]) {
    const binary = path.join(root, 'node_modules', name, 'bin', 'node');
    if (existsSync(binary)) return binary;
  }
  return Number.parseInt(process.versions.node, 10) >= minimumMajor ? process.execPath : undefined;
}
