import { existsSync } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import path from 'node:path';
import { neededBy } from './elf.ts';
import { DATA_FOLDER, IMAGE_UID, NODE } from './image.ts';
import type { NodeFiles } from './node-binary.ts';
import type { Entry } from './oci/tar.ts';
import { PLATFORMS, type Architecture } from './platform.ts';

/** flock(1), with which a data plane locks its data folder. */
const FLOCK = '/usr/bin/flock';
/** Mount points of a container. */
const FOLDERS = ['dev', 'etc', 'proc', 'run', 'sys'];
const ACCOUNTS = {
  '/etc/passwd': `root:x:0:0:root:/:/sbin/nologin\ngateway:x:${IMAGE_UID}:${IMAGE_UID}:gateway:/app:/sbin/nologin\n`,
  '/etc/group': `root:x:0:\ngateway:x:${IMAGE_UID}:\n`,
  // Without it, glibc does not read /etc/hosts before it asks the DNS servers.
  '/etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
};

/** The packages of Debian that have the licences of all that is taken from them. */
const LICENSED = ['gcc-12-base', 'libc6', 'util-linux'];
const [FILE, PROGRAM, FOLDER, PRIVATE] = [0o644, 0o755, 0o755, 0o700];
/** Everybody may write, and remove only what is their own. */
const TEMPORARY = 0o1777;

/**
 * The layer that all images of a platform share: Node, the libraries that it loads, flock(1), an account and the data folder. Made of
 * files of that platform, none of which is run.
 *
 * @param debian the folder with the files of Debian's packages
 * @throws Error if a library is in none of the packages
 */
export async function baseEntries(
  architecture: Architecture,
  { node, licence }: NodeFiles,
  debian: string,
): Promise<Entry[]> {
  const { triplet } = PLATFORMS[architecture];
  const flock = await readFile(path.join(debian, FLOCK));
  const files = new Map<string, Entry>();
  const add = (absolute: string, content: Buffer, mode: number) => {
    const name = absolute.replace(/^\//, '');
    files.set(name, { path: name, mode, content });
  };
  add(NODE, node, PROGRAM);
  add(FLOCK, flock, PROGRAM);
  // Grows while libraries name others.
  const libraries = new Set([node, flock].flatMap((program) => neededBy(program).libraries));
  for (const name of libraries) {
    const content = await library(debian, triplet, name);
    for (const more of neededBy(content).libraries) libraries.add(more);
    add(`/usr/lib/${triplet}/${name}`, content, PROGRAM);
  }
  const { loader } = neededBy(node);
  if (loader === undefined) throw new Error('Node has no loader, so it is no program');
  add(loader, await library(debian, triplet, path.basename(loader)), PROGRAM);
  for (const [file, text] of Object.entries(ACCOUNTS)) add(file, Buffer.from(text), FILE);
  add('/usr/share/doc/node/LICENSE', licence, FILE);
  for (const name of LICENSED) {
    const file = `/usr/share/doc/${name}/copyright`;
    add(file, await readFile(path.join(debian, file)), FILE);
  }
  const folders: Entry[] = [
    ...FOLDERS.map((name) => folder(name, FOLDER)),
    folder('tmp', TEMPORARY),
    { ...folder(DATA_FOLDER.slice(1), PRIVATE), owner: IMAGE_UID },
  ];
  return withParents([...folders, ...files.values()]);
}

function folder(name: string, mode: number): Entry {
  return { path: name, mode, isFolder: true };
}

async function library(debian: string, triplet: string, name: string): Promise<Buffer> {
  const places = ['lib', 'usr/lib'].map((one) => path.join(debian, one, triplet, name));
  const found = places.find((file) => existsSync(file));
  if (found === undefined) throw new Error(`no package of Debian has ${name}`);
  return readFile(await realpath(found));
}

/** The entries in order of their paths, with a folder before all that is in it. */
export function withParents(entries: readonly Entry[]): Entry[] {
  const all = new Map(entries.map((entry) => [entry.path, entry]));
  for (const entry of entries) {
    for (let name = path.dirname(entry.path); name !== '.'; name = path.dirname(name)) {
      if (!all.has(name)) all.set(name, folder(name, FOLDER));
    }
  }
  return [...all.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}
