import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { StartError } from '@gateway/tools/process/errors';
import { runCommand } from '@gateway/tools/process/run-command';

export interface Steps {
  readonly log: (line: string) => void;
  readonly signal?: AbortSignal;
}

export interface PackageRequest {
  /** The program that the packages are for, for messages. */
  readonly name: string;
  /** The command of apt-get and its arguments. */
  readonly command: readonly string[];
  /** How to get the program in another way. */
  readonly hint: string;
  /** A suite of Debian, such as `unstable`, from the mirror of this system; by default the suites of this system. */
  readonly suite?: string;
}

/** Where `apt-get install --download-only` leaves packages, and `apt-get download` does not. */
const ARCHIVES = path.join('cache', 'archives');

/** The keys of Debian on systems that do not trust them for every source. */
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

/** Options that let apt run without root and without changing the system: it writes to `folder` only. */
function aptSettings(folder: string, ownLists: boolean, sources?: string): string[] {
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
  ];
  return settings.flatMap((setting) => ['-o', setting]);
}

/**
 * Writes a list of sources with one suite of Debian.
 *
 * @throws {StartError} if this system has no mirror of Debian
 */
async function writeSources(folder: string, suite: string, name: string): Promise<string> {
  const args = [
    'indextargets',
    '--format',
    '$(REPO_URI)',
    'Created-By: Packages',
    'Component: main',
  ];
  const { output } = await runCommand('apt-get', args, { timeoutMs: 20_000 });
  const uris = output.split('\n').filter((uri) => /^https?:\/\/\S+$/.test(uri));
  // A mirror may have any path, but that of security updates has other suites.
  const mirror =
    uris.find((uri) => /\/debian\/?$/.test(uri)) ?? uris.find((uri) => !uri.includes('security'));
  if (mirror === undefined) {
    throw new StartError(`${name}: this system has no mirror of Debian among its package sources`);
  }
  const signedBy = existsSync(KEYRING) ? `[signed-by=${KEYRING}] ` : '';
  const file = path.join(folder, 'sources.list');
  await writeFile(file, `deb ${signedBy}${mirror} ${suite} main\n`);
  return file;
}

async function downloaded(folder: string): Promise<string[]> {
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
 * @returns the files
 * @throws {StartError}
 */
export async function downloadPackages(
  folder: string,
  { name, command, hint, suite }: PackageRequest,
  { log, signal }: Steps,
): Promise<string[]> {
  await mkdir(path.join(folder, ARCHIVES, 'partial'), { recursive: true });
  const sources = suite === undefined ? undefined : await writeSources(folder, suite, name);
  let output = '';
  for (const ownLists of sources === undefined ? [false, true] : [true]) {
    const apt = aptSettings(folder, ownLists, sources);
    const options = { cwd: folder, timeoutMs: 180_000, ...(signal && { signal }) };
    if (ownLists) {
      log(`Fetching the package lists of ${suite ?? 'this system'} for ${name} ...`);
      await mkdir(path.join(folder, 'lists', 'partial'), { recursive: true });
      ({ output } = await runCommand('apt-get', [...apt, 'update'], options));
    }
    const download = await runCommand('apt-get', [...apt, ...command], options);
    output += `\n${download.output}`;
    if (download.code === 127) break;
    signal?.throwIfAborted();
    const files = await downloaded(folder);
    if (download.code === 0 && files.length > 0) return files;
  }
  const reason = output.split('\n').findLast((line) => line.startsWith('E:')) ?? output.trim();
  throw new StartError(`${name} could not be downloaded (${reason}); ${hint}`);
}

/** Unpacks a package into a folder, without running its scripts. @throws {StartError} */
export async function unpackPackage(
  file: string,
  folder: string,
  { name, hint }: Pick<PackageRequest, 'name' | 'hint'>,
): Promise<void> {
  const { code, output } = await runCommand('dpkg-deb', ['-x', file, folder], {
    timeoutMs: 60_000,
  });
  if (code === 0) return;
  throw new StartError(
    `${name}: dpkg-deb failed to unpack the package (${output.trim()}); ${hint}`,
  );
}
