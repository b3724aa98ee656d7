import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { downloadPackages, unpackPackage, type Steps } from '../src/debian/download-packages.ts';
import { findOnPath, isExecutable } from '../src/process/find-on-path.ts';

/** A browser for tests, and the environment variables that it needs. */
export interface Chromium {
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The first is a browser without windows, which takes a fifth less CPU time. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];
/** Only what the system lacks is downloaded. Without a font no text is shown. */
const CHROMIUM = {
  name: 'chromium-headless-shell',
  command: [
    'install',
    '--download-only',
    '--no-install-recommends',
    '--yes',
    'chromium-headless-shell',
    'fonts-dejavu-core',
  ],
  hint: 'install chromium (Debian: apt-get install chromium, macOS: brew install chromium)',
};

function cacheFolder(): string {
  const cache = process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache');
  return path.join(cache, 'gateway', `headless-shell-${process.platform}-${process.arch}`);
}

/**
 * Chromium: the one on the PATH, else an earlier download, else Debian's packages, whose signatures apt verifies, unpacked
 * without root for all checkouts of this user. Several processes may call it at once.
 *
 * @throws {StartError} that says how to install it
 */
export async function findChromium(steps: Steps): Promise<Chromium> {
  for (const name of NAMES) {
    const installed = await findOnPath(name);
    if (installed !== undefined) return { path: installed, env: {} };
  }
  const folder = cacheFolder();
  if (!(await isExecutable(programIn(folder)))) await download(folder, steps);
  return { path: programIn(folder), env: await unpackedEnvironment(folder) };
}

function programIn(folder: string): string {
  return path.join(folder, 'usr', 'lib', 'chromium', 'chromium-headless-shell');
}

async function download(folder: string, steps: Steps): Promise<void> {
  const draft = `${folder}.${process.pid}`;
  const packages = path.join(draft, 'packages');
  const root = path.join(draft, 'root');
  try {
    steps.log('Downloading chromium for the tests of the console, which is not on the PATH ...');
    const files = await downloadPackages(packages, CHROMIUM, steps);
    await mkdir(root, { recursive: true });
    for (const file of files) await unpackPackage(file, root, CHROMIUM);
    await rename(root, folder).catch(async (error: unknown) => {
      // Another process was faster.
      if (!(await isExecutable(programIn(folder)))) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** What makes the unpacked files find each other. */
async function unpackedEnvironment(folder: string): Promise<Record<string, string>> {
  const triple = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu';
  const libraries = [`usr/lib/${triple}`, `lib/${triple}`, `usr/lib/${triple}/pulseaudio`];
  const fonts = path.join(folder, 'fonts.conf');
  const folders = [path.join(folder, 'usr/share/fonts'), '/usr/share/fonts'];
  const list = folders.map((one) => `<dir>${one}</dir>`).join('');
  await writeFile(
    fonts,
    `<fontconfig>${list}<cachedir>${path.join(folder, 'font-cache')}</cachedir></fontconfig>`,
  );
  return {
    LD_LIBRARY_PATH: libraries.map((one) => path.join(folder, one)).join(':'),
    FONTCONFIG_FILE: fonts,
  };
}
