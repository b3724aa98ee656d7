import { stat } from 'node:fs/promises';
import path from 'node:path';
import { runCommand } from '@gateway/tools/process/run-command';
import { StartError } from '@gateway/tools/process/errors';

/** An account of the system that is not root, by number. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** A command and the account to run it under. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly uid?: number;
  readonly gid?: number;
}

async function lookUp(name: string): Promise<Account | undefined> {
  const ids = await Promise.all(
    ['-u', '-g'].map((flag) => runCommand('id', [flag, name], { timeoutMs: 5000 })),
  );
  const [uid, gid] = ids.map(({ code, output }) => (code === 0 ? Number(output) : Number.NaN));
  if (uid === undefined || gid === undefined || !(uid > 0) || !(gid > 0)) return undefined;
  return { uid, gid };
}

/**
 * The account that Postgres runs under, because it refuses to run as root: undefined if this process is not root, else
 * `postgres` if it exists, else `nobody`. No account is created.
 *
 * @throws {StartError} if this process is root and neither account exists
 */
export async function unprivilegedAccount(): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const account = (await lookUp('postgres')) ?? (await lookUp('nobody'));
  if (account === undefined) {
    throw new StartError(
      'Postgres cannot run as root and there is no account postgres or nobody; ' +
        'start as another user or set DATABASE_URL',
    );
  }
  return account;
}

/** Whether any account may run this binary, or enter this folder, and all folders above it. */
async function isOpenToOthers(file: string): Promise<boolean> {
  const found = await stat(file);
  const wanted = found.isDirectory() ? 0o001 : 0o005;
  if ((found.mode & wanted) !== wanted) return false;
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    if (((await stat(folder)).mode & 0o001) === 0) return false;
    if (folder === path.dirname(folder)) return true;
  }
}

/**
 * How to run a command under the account. If the account cannot reach the files, as in a checkout in root's home folder,
 * setpriv(1) keeps one capability, which bypasses file modes (CAP_DAC_OVERRIDE; root in a container has it too), and drops
 * all others. The secure bit makes access(2), with which initdb looks for postgres, respect that capability.
 *
 * @param files the binaries and folders, links resolved, that the command must reach
 */
export async function asAccount(
  account: Account | undefined,
  command: string,
  args: readonly string[],
  files: readonly string[],
): Promise<Launch> {
  if (account === undefined) return { command, args };
  const { uid, gid } = account;
  const open = await Promise.all(files.map(isOpenToOthers));
  if (open.every(Boolean)) return { command, args, uid, gid };
  const drop = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
  const keep = [
    '--inh-caps=+dac_override',
    '--ambient-caps=+dac_override',
    '--securebits=+no_setuid_fixup',
  ];
  const tried = await runCommand('setpriv', [...drop, ...keep, 'true'], { timeoutMs: 5000 });
  if (tried.code !== 0) {
    throw new StartError(
      `Postgres cannot run as root, and the account ${uid} cannot reach ${files.join(', ')}; ` +
        'move the checkout and GATEWAY_DATA_DIR to a folder that others can enter, ' +
        'start as another user, or set DATABASE_URL',
    );
  }
  return { command: 'setpriv', args: [...drop, ...keep, command, ...args] };
}
