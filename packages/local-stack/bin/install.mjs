// When an install is needed, and with which command line.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

function stampFile(root) {
  return path.join(root, 'node_modules', '.gateway-install');
}

/** What an install depends on; a node_modules of another machine or lockfile does not match. */
function wantedStamp(root) {
  const lockfile = readFileSync(path.join(root, 'pnpm-lock.yaml'));
  const digest = createHash('sha256').update(lockfile).digest('hex');
  return `${process.platform}-${process.arch} ${root} ${digest}\n`;
}

/** True when node_modules was filled here from this very lockfile. */
export function isInstallCurrent(root) {
  try {
    return readFileSync(stampFile(root), 'utf8') === wantedStamp(root);
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return false;
    throw error;
  }
}

/** Written only after an install that succeeded, so that one broken off is done again. */
export function recordInstall(root) {
  writeFileSync(stampFile(root), wantedStamp(root));
}

/**
 * The pinned pnpm through npx, which is told to keep its own warnings to itself; pnpm still shows
 * its progress. Both run under the system's Node, as they do the first time: npm puts the links of
 * node_modules on the PATH, and the Node there may not know the certificates that the system's does.
 */
export function installCommand(packageManager) {
  const folders = (process.env.PATH ?? '').split(path.delimiter);
  const ofSystem = folders.filter((folder) => !/[\\/]node_modules[\\/]\.bin$/.test(folder));
  const pnpm = [
    'install',
    '--frozen-lockfile',
    '--config.confirmModulesPurge=false',
    '--loglevel=info',
  ];
  return {
    command: 'npx',
    args: ['--yes', '--loglevel=error', packageManager, ...pnpm],
    env: {
      ...process.env,
      PATH: ofSystem.join(path.delimiter),
      npm_config_update_notifier: 'false',
    },
  };
}
