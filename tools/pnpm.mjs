// Runs the pnpm that `packageManager` of package.json pins.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { cpus } from 'node:os';
import path from 'node:path';
import { cachePath } from './cache-path.mjs';
import { runForeground } from './foreground.mjs';

/**
 * Runs pnpm in `root`. Resolves as `runForeground` does. npm and pnpm run under the system's Node, as in the first install: npm
 * puts node_modules/.bin on the PATH, and the Node in there may not have the certificates that the system's Node has.
 *
 * @throws Error if the registry has another pnpm under this version
 */
export async function runPnpm(root, args) {
  const folders = (process.env.PATH ?? '').split(path.delimiter);
  const ofSystem = folders.filter((folder) => !/[\\/]node_modules[\\/]\.bin$/.test(folder));
  const env = {
    ...process.env,
    PATH: ofSystem.join(path.delimiter),
    npm_config_update_notifier: 'false',
    // Threads that unpack packages, by default one less than cores; the thread that downloads them is not busy.
    PNPM_MAX_WORKERS: String(cpus().length),
  };
  const { command, failed } = await download(pinnedPnpm(root), env);
  if (failed) return failed;
  return runForeground(process.execPath, [command, ...args], { cwd: root, env, stdin: 'ignore' });
}

/** The version and the SHA-512 in hex, such as `pnpm@10.34.9+sha512.f49b…`. */
function pinnedPnpm(root) {
  const { packageManager } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const [, version, hash] = /^pnpm@([\d.]+)\+sha512\.([0-9a-f]{128})$/.exec(packageManager);
  return { version, hash };
}

/**
 * Downloads pnpm into the cache of this user, unless it is there, and compares it with the hash. npx compares a package only with
 * what the registry says at that moment. Resolves with the file to run, or with how a command failed.
 */
async function download({ version, hash }, env) {
  const folder = cachePath(`pnpm-${version}-${hash.slice(0, 16)}`);
  const command = path.join(folder, 'package', 'bin', 'pnpm.cjs');
  if (existsSync(command)) return { command };
  const draft = `${folder}.${process.pid}`;
  const options = { cwd: draft, env, stdin: 'ignore', stdout: 'ignore' };
  mkdirSync(draft, { recursive: true });
  try {
    const packed = await runForeground('npm', ['pack', '--silent', `pnpm@${version}`], options);
    if (packed.code !== 0) return { failed: packed };
    const archive = path.join(draft, `pnpm-${version}.tgz`);
    const actual = createHash('sha512').update(readFileSync(archive)).digest('hex');
    if (actual !== hash) {
      throw new Error(`pnpm ${version} has the SHA-512 ${actual}; package.json expects ${hash}`);
    }
    const unpacked = await runForeground('tar', ['-xzf', archive], options);
    if (unpacked.code !== 0) return { failed: unpacked };
    rmSync(archive);
    // Another command may have done the same meanwhile.
    if (!existsSync(command)) renameSync(draft, folder);
    return { command };
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
