import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Steps } from '@gateway/tools/debian/packages.mjs';
import { findOnPath } from '@gateway/local-stack/process/find-on-path';
import { isUnpacked, LIBRARIES, unpackedProgram } from './debian-program.ts';

/** A browser for tests, and the environment variables that it needs. */
export interface Chromium {
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Browsers with windows. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
/** Only what the system lacks is downloaded. Without a font no text is shown. */
const CHROMIUM = {
  name: 'chromium-headless-shell',
  folder: 'headless-shell',
  purpose: 'the tests of the console',
  program: 'usr/lib/chromium/chromium-headless-shell',
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

/**
 * The browser without windows if this machine has it, because it takes less CPU time; else another one on the PATH, else Debian's
 * without windows.
 *
 * @throws {StartError} that says how to install it
 */
export async function findChromium(steps: Steps): Promise<Chromium> {
  const onPath = (await isUnpacked(CHROMIUM)) ? [CHROMIUM.name] : [CHROMIUM.name, ...NAMES];
  for (const name of onPath) {
    const installed = await findOnPath(name);
    if (installed !== undefined) return { path: installed, env: {} };
  }
  const folder = await unpackedProgram(CHROMIUM, steps);
  return { path: path.join(folder, CHROMIUM.program), env: await unpackedEnvironment(folder) };
}

/** For a font that is not there. Without it any font is taken, and a picture differs from machine to machine. */
const OTHER_FONT =
  '<match target="pattern"><edit name="family" mode="append_last"><string>DejaVu Sans</string></edit></match>';

/** What makes the unpacked files find each other. */
async function unpackedEnvironment(folder: string): Promise<Record<string, string>> {
  const libraries = [LIBRARIES, LIBRARIES.replace('usr/', ''), `${LIBRARIES}/pulseaudio`];
  const fonts = path.join(folder, 'fonts.conf');
  const folders = [path.join(folder, 'usr/share/fonts'), '/usr/share/fonts'];
  const list = folders.map((one) => `<dir>${one}</dir>`).join('');
  const cache = `<cachedir>${path.join(folder, 'font-cache')}</cachedir>`;
  await writeFile(fonts, `<fontconfig>${list}${cache}${OTHER_FONT}</fontconfig>`);
  return {
    LD_LIBRARY_PATH: libraries.map((one) => path.join(folder, one)).join(':'),
    FONTCONFIG_FILE: fonts,
  };
}
