import { randomBytes } from 'node:crypto';
import {
  appendFile,
  chmod,
  chown,
  copyFile,
  mkdir,
  readFile,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { errorCode, StartError } from '@gateway/tools/process/errors';
import { runCommand } from '@gateway/tools/process/run-command';
import { asAccount, type Account } from '../process/unprivileged.ts';
import type { PostgresBinaries } from './binaries.ts';

/** The major version of the embedded binaries. They cannot open a cluster of another one. */
const majorVersion = '18';
const superuser = 'gateway';

/** A folder of database files that a server can be started on. */
export interface Cluster {
  readonly folder: string;
  readonly user: string;
  readonly password: string;
}

interface ClusterOptions {
  readonly dataDir: string;
  readonly log: (line: string) => void;
  readonly signal?: AbortSignal;
}

interface Tools {
  readonly binaries: PostgresBinaries;
  readonly account: Account | undefined;
  readonly signal?: AbortSignal;
}

const settingsFile = new URL('../../../../deploy/postgres/local.conf', import.meta.url);

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Creates the cluster in a temporary folder and renames it when it is complete, so that an incomplete one is never used. */
async function create(
  { binaries, account, signal }: Tools,
  dataDir: string,
  folder: string,
  password: string,
): Promise<void> {
  const draft = `${folder}.new`;
  const passwordFile = path.join(dataDir, 'initdb-password');
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { mode: 0o700 });
  try {
    await writeFile(passwordFile, password, { mode: 0o600 });
    if (account !== undefined) {
      await chown(draft, account.uid, account.gid);
      await chown(passwordFile, account.uid, account.gid);
    }
    const args = [
      `--pgdata=${draft}`,
      `--username=${superuser}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--no-sync',
    ];
    const launch = await asAccount(account, binaries.initdb, args, [binaries.initdb, dataDir]);
    const { code, output } = await runCommand(launch.command, launch.args, {
      ...launch,
      cwd: dataDir,
      env: { PATH: process.env['PATH'], LC_ALL: 'C' },
      timeoutMs: 120_000,
      ...(signal && { signal }),
    });
    signal?.throwIfAborted();
    if (code !== 0) {
      const reason = output.split('\n').findLast((line) => line.includes('error')) ?? output;
      throw new StartError(`initdb failed: ${reason.trim()}`);
    }
    await appendFile(path.join(draft, 'postgresql.conf'), "\ninclude 'gateway.conf'\n");
    await rename(draft, folder);
  } finally {
    await rm(passwordFile, { force: true });
    await rm(draft, { recursive: true, force: true });
  }
}

/**
 * Opens the cluster in `dataDir`, or creates it: UTF-8, C locale, one superuser whose password is stored beside it with mode
 * 0600. Every start copies the settings of deploy/postgres/local.conf into it.
 *
 * @throws {StartError} if the folder contains something else
 */
export async function openCluster(
  binaries: PostgresBinaries,
  account: Account | undefined,
  { dataDir, log, signal }: ClusterOptions,
): Promise<Cluster> {
  const folder = path.join(dataDir, 'cluster');
  const passwordFile = path.join(dataDir, 'password');
  await mkdir(dataDir, { recursive: true });
  await chmod(dataDir, 0o711);
  let password = await readIfThere(passwordFile);
  const version = await readIfThere(path.join(folder, 'PG_VERSION'));
  if (password === undefined && version === undefined) {
    password = randomBytes(24).toString('base64url');
    await writeFile(passwordFile, password, { mode: 0o600 });
  }
  if (password === undefined) {
    throw new StartError(
      `the password file of the Postgres data in ${dataDir} is missing; move the folder away to start with an empty database`,
    );
  }
  if (version === undefined) {
    log('Creating the Postgres data folder ...');
    const tools = { binaries, account, ...(signal && { signal }) };
    await create(tools, dataDir, folder, password);
  } else if (version !== majorVersion) {
    throw new StartError(
      `${folder} was created by Postgres ${version}, but this is version ${majorVersion}; move the folder away to start with an empty database`,
    );
  }
  const settings = path.join(folder, 'gateway.conf');
  await copyFile(settingsFile, settings);
  if (account !== undefined) await chown(settings, account.uid, account.gid);
  return { folder, user: superuser, password };
}
