import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { freePort } from '@gateway/local-stack/process/free-port';
import { eventually } from '@gateway/shared/test/eventually';
import { findApache } from './program.ts';

const MODULES = [
  'mpm_event',
  'authn_core',
  'authn_file',
  'authz_core',
  'authz_user',
  'auth_digest',
  'dav',
  'dav_fs',
  'dir',
];

/**
 * Serves the folder `files` in a folder with Debian's Apache.
 *
 * Without `User` its children stay who the test is: another user could not read what was unpacked.
 *
 * @param settings of that folder
 */
export async function startApache(folder: string, settings: readonly string[]) {
  const { file, env, modules } = await findApache();
  const port = await freePort();
  const inFolder = (name: string) => path.join(folder, name);
  await mkdir(inFolder('files'));
  await writeFile(
    inFolder('apache.conf'),
    [
      'ServerName apache.test',
      `Listen 127.0.0.1:${port}`,
      `PidFile ${inFolder('pid')}`,
      `ErrorLog ${inFolder('log')}`,
      ...MODULES.map((name) => `LoadModule ${name}_module ${modules}/mod_${name}.so`),
      `DocumentRoot ${inFolder('files')}`,
      `DavLockDB ${inFolder('locks')}`,
      `<Directory ${inFolder('files')}>`,
      ...settings,
      '</Directory>',
      '',
    ].join('\n'),
  );
  const args = ['-d', folder, '-f', inFolder('apache.conf'), '-DFOREGROUND'];
  const child = spawn(file, args, { env: { ...process.env, ...env }, stdio: 'ignore' });
  const ended = once(child, 'close');
  const url = `http://127.0.0.1:${port}`;
  await eventually(() => fetch(url));
  const stop = async () => {
    child.kill();
    await ended;
  };
  return { url, stop };
}
