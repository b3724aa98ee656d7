import { access, constants, copyFile, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { errorMessage, StartError } from '../process/errors.ts';
import { runCommand } from '../process/run-command.ts';

interface Steps {
  readonly log: (line: string) => void;
  readonly signal?: AbortSignal;
}

const INSTALL_HINT =
  'install nats-server (Debian: apt-get install nats-server, macOS: brew install nats-server) or set NATS_URL';

async function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function onPath(): Promise<string | undefined> {
  // Daemons may be in a folder that is not on the PATH of an ordinary user.
  const folders = [
    ...(process.env['PATH'] ?? '').split(path.delimiter),
    '/usr/sbin',
    '/usr/local/sbin',
  ];
  for (const folder of folders.filter((name) => path.isAbsolute(name))) {
    const file = path.join(folder, 'nats-server');
    if (await isExecutable(file)) return file;
  }
  return undefined;
}

/** The cached download, shared by all checkouts of this user. */
function cachedBinary(): string {
  const cache = process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache');
  return path.join(cache, 'gateway', `nats-server-${process.platform}-${process.arch}`);
}

/** Options that let apt run without root and without changing the system: it writes to `folder` only. */
function aptSettings(folder: string, ownLists: boolean): string[] {
  const settings = [
    `Dir::Cache=${folder}/cache`,
    'Debug::NoLocking=true',
    'APT::Sandbox::User=',
    'Acquire::Retries=2',
    'Acquire::http::Timeout=20',
    'Acquire::https::Timeout=20',
    ...(ownLists ? [`Dir::State::Lists=${folder}/lists`] : []),
  ];
  return settings.flatMap((setting) => ['-o', setting]);
}

async function downloadedPackage(folder: string): Promise<string | undefined> {
  const names = await readdir(folder);
  const name = names.find((entry) => entry.startsWith('nats-server_') && entry.endsWith('.deb'));
  return name === undefined ? undefined : path.join(folder, name);
}

/** Tries the package lists of the system first. If it has none, as a slim image, downloads lists. */
async function downloadPackage(folder: string, { log, signal }: Steps): Promise<string> {
  let output = '';
  for (const ownLists of [false, true]) {
    const apt = aptSettings(folder, ownLists);
    const options = { cwd: folder, timeoutMs: 180_000, ...(signal && { signal }) };
    if (ownLists) {
      log('Fetching the package lists of this system for nats-server ...');
      await mkdir(path.join(folder, 'lists', 'partial'), { recursive: true });
      ({ output } = await runCommand('apt-get', [...apt, 'update'], options));
    }
    const download = await runCommand('apt-get', [...apt, 'download', 'nats-server'], options);
    output += `\n${download.output}`;
    if (download.code === 127) break;
    signal?.throwIfAborted();
    const file = await downloadedPackage(folder);
    if (download.code === 0 && file !== undefined) return file;
  }
  const reason = output.split('\n').findLast((line) => line.startsWith('E:')) ?? output.trim();
  throw new StartError(
    `nats-server is not on the PATH and could not be downloaded (${reason}); ${INSTALL_HINT}`,
  );
}

/** Copies a binary into the cache. If that fails, other checkouts download it again. */
async function cacheBinary(binary: string, log: (line: string) => void): Promise<void> {
  const target = cachedBinary();
  const draft = `${target}.${process.pid}`;
  try {
    await mkdir(path.dirname(target), { recursive: true });
    await copyFile(binary, draft);
    await rename(draft, target);
  } catch (error) {
    const reason = errorMessage(error);
    log(`nats-server not cached for other checkouts: ${reason}`);
  }
}

/**
 * The path of nats-server: the one on the PATH, else an earlier download, else Debian's package, whose signature apt
 * verifies, unpacked in `dataDir` without root.
 *
 * @throws {StartError} that says how to install it
 */
export async function natsBinary(dataDir: string, steps: Steps): Promise<string> {
  const unpacked = path.join(dataDir, 'package', 'usr', 'sbin', 'nats-server');
  const installed = await onPath();
  if (installed !== undefined) return installed;
  for (const file of [unpacked, cachedBinary()]) if (await isExecutable(file)) return file;
  const folder = path.join(dataDir, 'download');
  await rm(folder, { recursive: true, force: true });
  await mkdir(path.join(folder, 'cache', 'archives', 'partial'), { recursive: true });
  try {
    steps.log('Downloading nats-server, which is not on the PATH ...');
    const file = await downloadPackage(folder, steps);
    const args = ['-x', file, path.join(dataDir, 'package')];
    const { code, output } = await runCommand('dpkg-deb', args, { timeoutMs: 60_000 });
    if (code !== 0 || !(await isExecutable(unpacked))) {
      throw new StartError(
        `nats-server: dpkg-deb failed to unpack the package (${output.trim()}); ${INSTALL_HINT}`,
      );
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  await cacheBinary(unpacked, steps.log);
  return unpacked;
}
