// Decides whether an install is needed, and with which command line.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

function stampFile(root) {
  return path.join(root, 'node_modules', '.gateway-install');
}

/** Identifies an install: platform, folder and lockfile. */
function wantedStamp(root) {
  const lockfile = readFileSync(path.join(root, 'pnpm-lock.yaml'));
  const digest = createHash('sha256').update(lockfile).digest('hex');
  return `${process.platform}-${process.arch} ${root} ${digest}\n`;
}

/** Whether node_modules was installed on this platform, in this folder and from this lockfile. */
export function isInstallCurrent(root) {
  try {
    return readFileSync(stampFile(root), 'utf8') === wantedStamp(root);
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return false;
    throw error;
  }
}

/** Called only after an install that succeeded, so that an interrupted one is repeated. */
export function recordInstall(root) {
  writeFileSync(stampFile(root), wantedStamp(root));
}

/**
 * Runs the pinned pnpm through npx, without npx's warnings. Both run under the system's Node, as in the first install: npm puts
 * node_modules/.bin on the PATH, and the Node in there may not have the certificates that the system's Node has.
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
