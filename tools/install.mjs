// Installs the packages of the lockfile: only those that run the gateway, or all.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { findNode, ownNodeFits } from './node-runtime.mjs';
import { runPnpm } from './pnpm.mjs';

/**
 * What is installed. `run`: what `npm start` needs, without what only tests, checks, measurements and releases need; the root
 * package names it. `all`: everything. Node itself is left out of both if the running one fits.
 */
const SELECTIONS = {
  run: {
    own: ['--prod', '--filter-prod=gateway...'],
    packaged: ['--prod', '--filter-prod=gateway...', '--filter-prod=@gateway/node'],
  },
  all: { own: ['--filter=!@gateway/node'], packaged: [] },
};

function stampFile(root) {
  return path.join(root, 'node_modules', '.gateway-install');
}

/** Identifies an install: what it contains, platform, folder and lockfile. */
function stamp(root, selection) {
  const lockfile = readFileSync(path.join(root, 'pnpm-lock.yaml'));
  const digest = createHash('sha256').update(lockfile).digest('hex');
  return `${selection} ${process.platform}-${process.arch} ${root} ${digest}\n`;
}

/** Whether node_modules was installed on this platform, in this folder, from this lockfile, and has the selection. */
export function isInstallCurrent(root, selection) {
  if (findNode(root) === undefined) return false;
  try {
    const present = readFileSync(stampFile(root), 'utf8');
    return present === stamp(root, 'all') || present === stamp(root, selection);
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return false;
    throw error;
  }
}

/** Installs the selection. Resolves as `runForeground` does. */
export async function install(root, selection) {
  const which = SELECTIONS[selection][ownNodeFits(root) ? 'own' : 'packaged'];
  const options = ['--frozen-lockfile', '--config.confirmModulesPurge=false', '--loglevel=info'];
  const ended = await runPnpm(root, ['install', ...options, ...which]);
  // Only after an install that succeeded, so that an interrupted one is repeated.
  if (ended.code === 0) writeFileSync(stampFile(root), stamp(root, selection));
  return ended;
}
