// Downloads packages of Debian without root. Plain JavaScript, because nats-server is downloaded before there is a Node that runs
// TypeScript.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

/**
 * @typedef {object} Steps
 * @property {(line: string) => void} log
 * @property {AbortSignal} [signal]
 *
 * @typedef {object} PackageRequest
 * @property {string} name The program that the packages are for, for messages.
 * @property {readonly string[]} command The command of apt-get and its arguments.
 * @property {string} hint How to get the program in another way.
 * @property {string} [suite] A suite of Debian, such as `unstable`, from the mirror of this system; by default the suites of this
 *   system.
 * @property {string} [architecture] Debian's name of another processor, such as `arm64`; by default that of this system. With it
 *   the package lists are always downloaded, so that the newest versions are taken.
 */

/** Where `apt-get install --download-only` leaves packages, and `apt-get download` does not. */
const ARCHIVES = path.join('cache', 'archives');

/** The keys of Debian on systems that do not trust them for every source. */
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

/**
 * Runs a command. One that cannot be run resolves with code 127 and the reason as its output.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{timeoutMs: number, cwd?: string, signal?: AbortSignal}} options
 * @returns {Promise<{code: number, output: string}>}
 */
function run(command, args, { timeoutMs, ...options }) {
  const settings = { ...options, timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: 2 ** 24 };
  return new Promise((resolve) => {
    execFile(command, args, settings, (error, stdout, stderr) => {
      if (error?.code === 'ENOENT') resolve({ code: 127, output: error.message });
      else resolve({ code: error === null ? 0 : 1, output: `${stdout}\n${stderr}` });
    });
  });
}

/**
 * Options that let apt run without root and without changing the system: it writes to `folder` only.
 *
 * @param {string} folder
 * @param {boolean} ownLists
 * @param {string} [sources]
 * @param {string} [architecture]
 */
function aptSettings(folder, ownLists, sources, architecture) {
  const settings = [
    `Dir::Cache=${folder}/cache`,
    'Debug::NoLocking=true',
    'APT::Sandbox::User=',
    'Acquire::Retries=2',
    'Acquire::http::Timeout=20',
    'Acquire::https::Timeout=20',
    ...(ownLists ? [`Dir::State::Lists=${folder}/lists`] : []),
    ...(sources === undefined
      ? []
      : [`Dir::Etc::SourceList=${sources}`, 'Dir::Etc::SourceParts=-']),
    ...(architecture === undefined
      ? []
      : [`APT::Architecture=${architecture}`, `APT::Architectures=${architecture}`]),
  ];
  return settings.flatMap((setting) => ['-o', setting]);
}

/**
 * Writes a list of sources with one suite of Debian. Nothing but the lists of packages is fetched from it: no translations, no icons.
 *
 * @param {string} folder
 * @param {string} suite
 * @param {string} name
 * @throws {Error} if this system has no mirror of Debian
 */
async function writeSources(folder, suite, name) {
  // The sources alone, with the folder of lists that is still empty: a slim image has no lists, and to read those of another
  // system takes a second.
  const args = [
    ...aptSettings(folder, true),
    'indextargets',
    '--no-release-info',
    '--format',
    '$(REPO_URI)',
    'Created-By: Packages',
    'Component: main',
  ];
  const { output } = await run('apt-get', args, { timeoutMs: 20_000 });
  const uris = output.split('\n').filter((uri) => /^https?:\/\/\S+$/.test(uri));
  // A mirror may have any path, but that of security updates has other suites.
  const mirror =
    uris.find((uri) => /\/debian\/?$/.test(uri)) ?? uris.find((uri) => !uri.includes('security'));
  if (mirror === undefined) {
    throw new Error(`${name}: this system has no mirror of Debian among its package sources`);
  }
  const options = ['target=Packages', ...(existsSync(KEYRING) ? [`signed-by=${KEYRING}`] : [])];
  const file = path.join(folder, 'sources.list');
  await writeFile(file, `deb [${options.join(' ')}] ${mirror} ${suite} main\n`);
  return file;
}

/** @param {string} folder */
async function downloaded(folder) {
  const folders = [folder, path.join(folder, ARCHIVES)];
  const lists = await Promise.all(
    folders.map(async (one) => (await readdir(one)).map((name) => path.join(one, name))),
  );
  return lists.flat().filter((file) => file.endsWith('.deb'));
}

/**
 * Downloads packages of Debian, whose signatures apt verifies, into `folder`, without root. Tries the package lists of the
 * system first. If it has none, as a slim image, downloads lists.
 *
 * @param {string} folder
 * @param {PackageRequest} request
 * @param {Steps} steps
 * @returns the files
 * @throws {Error} of one line
 */
export async function downloadPackages(folder, request, { log, signal }) {
  const { name, command, hint, suite, architecture } = request;
  for (const place of [ARCHIVES, 'lists']) {
    await mkdir(path.join(folder, place, 'partial'), { recursive: true });
  }
  const sources = suite === undefined ? undefined : await writeSources(folder, suite, name);
  let output = '';
  const isOfSystem = sources === undefined && architecture === undefined;
  for (const ownLists of isOfSystem ? [false, true] : [true]) {
    const apt = aptSettings(folder, ownLists, sources, architecture);
    const options = { cwd: folder, timeoutMs: 180_000, ...(signal && { signal }) };
    if (ownLists) {
      log(
        `Fetching the package lists of ${suite ?? architecture ?? 'this system'} for ${name} ...`,
      );
      // Without apt's index of the lists, which the download makes.
      const update = [...apt, '-o', 'pkgCacheFile::Generate=false', 'update'];
      ({ output } = await run('apt-get', update, options));
    }
    const download = await run('apt-get', [...apt, ...command], options);
    output += `\n${download.output}`;
    if (download.code === 127) break;
    signal?.throwIfAborted();
    const files = await downloaded(folder);
    if (download.code === 0 && files.length > 0) return files;
  }
  const reason = output.split('\n').findLast((line) => line.startsWith('E:')) ?? output.trim();
  throw new Error(`${name} could not be downloaded (${reason}); ${hint}`);
}

/**
 * Unpacks a package into a folder, without running its scripts.
 *
 * @param {string} file
 * @param {string} folder
 * @param {Pick<PackageRequest, 'name' | 'hint'>} request
 * @throws {Error} of one line
 */
export async function unpackPackage(file, folder, { name, hint }) {
  const { code, output } = await run('dpkg-deb', ['-x', file, folder], { timeoutMs: 60_000 });
  if (code === 0) return;
  throw new Error(`${name}: dpkg-deb failed to unpack the package (${output.trim()}); ${hint}`);
}
