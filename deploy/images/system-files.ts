import { execFile } from 'node:child_process';
import { chmod, chown, copyFile, mkdir, realpath, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { DATA_FOLDER, IMAGE_UID, NODE } from './image.ts';

const run = promisify(execFile);

/** flock(1), with which a data plane locks its data folder. */
const FLOCK = '/usr/bin/flock';
/** Debian's packages of flock and of the libraries; their licences must be in the image. */
const LICENSED = ['libc6', 'libgcc-s1', 'libstdc++6', 'util-linux'];
/** Mount points of a container, and the folder for temporary files. */
const FOLDERS = ['proc', 'sys', 'dev', 'etc', 'tmp', 'run'];

const ACCOUNTS = {
  'etc/passwd': `root:x:0:0:root:/:/sbin/nologin\ngateway:x:${IMAGE_UID}:${IMAGE_UID}:gateway:/app:/sbin/nologin\n`,
  'etc/group': `root:x:0:\ngateway:x:${IMAGE_UID}:\n`,
  // Without it, glibc does not read /etc/hosts before it asks the DNS servers.
  'etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
};

/** The libraries that these programs load, with the loader itself, at the paths where programs expect them. */
async function sharedLibraries(programs: readonly string[]): Promise<string[]> {
  const { stdout } = await run('ldd', [...programs]);
  const found = stdout.matchAll(/(?:=> |^\s+)(\/\S+) \(0x/gm);
  return [...new Set([...found].map(([, file = '']) => file))].sort();
}

/** Writes the part of a root file system that all images have: Node, its libraries, flock and the account. */
export async function writeSystemFiles(root: string, node: string): Promise<void> {
  for (const folder of FOLDERS) await mkdir(path.join(root, folder), { recursive: true });
  await chmod(path.join(root, 'tmp'), 0o1777);
  const programs = new Map([
    [node, NODE],
    [FLOCK, FLOCK],
  ]);
  for (const library of await sharedLibraries([...programs.keys()])) programs.set(library, library);
  for (const [from, to] of programs) {
    const target = path.join(root, to);
    await mkdir(path.dirname(target), { recursive: true });
    await copyFile(await realpath(from), target);
    await chmod(target, 0o755);
  }
  for (const [file, text] of Object.entries(ACCOUNTS)) await writeFile(path.join(root, file), text);
  for (const name of LICENSED) {
    const file = `usr/share/doc/${name}/copyright`;
    await mkdir(path.dirname(path.join(root, file)), { recursive: true });
    await copyFile(await realpath(`/${file}`), path.join(root, file));
  }
  const data = path.join(root, DATA_FOLDER);
  await mkdir(data, { recursive: true });
  await chmod(data, 0o700);
  await chown(data, IMAGE_UID, IMAGE_UID);
}
