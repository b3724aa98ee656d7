import { stat } from 'node:fs/promises';
import path from 'node:path';
import { runCommand } from './run-command.ts';
import { StartError } from './start-error.ts';

/** An account of the system that is not root, by number. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** How to run a command: what to spawn and as whom. */
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
 * The account that Postgres runs under, since it refuses to be root: undefined when we are not root
 * ourselves, else `postgres` where the system has it, else `nobody`, which every system has. No
 * account is created: a development stack has no business in the list of users.
 *
 * @throws {StartError} when we are root and the system has neither
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

/** Whether any account may run this binary, or enter this folder, and pass every folder above. */
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
 * A command as the given account. Where the account could not reach the files, as in a checkout
 * below root's own closed home, setpriv(1) lets it keep the one capability that passes over file
 * modes (CAP_DAC_OVERRIDE, which root in a container has too); everything else of root is gone.
 * The secure bit makes access(2), by which initdb looks for postgres, honour that capability.
 *
 * `files` are the binaries and folders, links resolved, that the command must reach.
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
