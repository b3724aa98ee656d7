import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findOnPath, isExecutable } from '@gateway/local-stack/process/find-on-path';
import { runCommand, type CommandResult } from '@gateway/tools/process/run-command';
import { LIBRARIES, unpackedProgram } from '@gateway/testing/debian-program';

/** A program of Debian and what it needs around it. */
export interface Program {
  readonly file: string;
  readonly env: NodeJS.ProcessEnv;
}

const TIMEOUT_MS = 60_000;

/**
 * A program: the one on the PATH, else Debian's, unpacked without root.
 *
 * @param env what it needs if it is unpacked into a folder
 * @throws {StartError} that says how to install it
 */
export async function findProgram(
  name: string,
  env: (folder: string) => NodeJS.ProcessEnv = () => ({}),
): Promise<Program> {
  const installed = await findOnPath(name);
  if (installed !== undefined) return { file: installed, env: {} };
  const { folder, file } = await unpacked(name, `usr/bin/${name}`);
  return { file, env: { ...librariesOf(folder), ...env(folder) } };
}

/** A server of a package of Debian: the one on the PATH, else unpacked without root. */
export async function findServer(name: string, pack: string, program: string): Promise<Program> {
  const installed = await findOnPath(name);
  if (installed !== undefined) return { file: installed, env: {} };
  const { folder, file } = await unpacked(pack, program);
  return { file, env: librariesOf(folder) };
}

/** Debian's Apache, always unpacked, so that its modules are known; and the folder that they are in. */
export async function findApache(): Promise<Program & { readonly modules: string }> {
  const { folder, file } = await unpacked('apache2-bin', 'usr/sbin/apache2');
  const modules = path.join(folder, 'usr/lib/apache2/modules');
  return { file, env: librariesOf(folder), modules };
}

/**
 * The folder under which the file of a package of Debian is: the root of the system, else one with that package, unpacked;
 * and what its programs need there.
 */
export async function findPackage(
  name: string,
  file: string,
): Promise<{ readonly root: string; readonly env: NodeJS.ProcessEnv }> {
  if (await isExecutable(path.join('/', file))) return { root: '/', env: {} };
  const { folder } = await unpacked(name, file);
  return { root: folder, env: librariesOf(folder) };
}

/** A package of Debian, unpacked without root, and a program of it. */
async function unpacked(name: string, program: string) {
  const command = ['install', '--download-only', '--no-install-recommends', '--yes', name];
  const hint = `install ${name} (Debian: apt-get install ${name})`;
  const request = { name, folder: name, purpose: 'the tests of clients', program, command, hint };
  const folder = await unpackedProgram(request, { log: () => undefined });
  return { folder, file: path.join(folder, program) };
}

function librariesOf(folder: string): NodeJS.ProcessEnv {
  return { LD_LIBRARY_PATH: path.join(folder, LIBRARIES) };
}

/** Runs a program in a folder that is also its home. */
export function runProgram(
  { file, env }: Program,
  args: readonly string[],
  cwd: string,
): Promise<CommandResult> {
  const environment = { PATH: process.env['PATH'], HOME: cwd, LC_ALL: 'C', ...env };
  return runCommand(file, args, { cwd, env: environment, timeoutMs: TIMEOUT_MS });
}

/** Calls with a folder that is removed afterwards. */
export async function withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(path.join(tmpdir(), 'gateway-client-'));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
