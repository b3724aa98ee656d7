import { execFile } from 'node:child_process';
import { chmod, chown, copyFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { unprivilegedAccount } from '@gateway/local-stack/process/unprivileged';

const run = promisify(execFile);

export interface CopyOptions {
  /** Of the running server, as its superuser. */
  readonly url: string;
  /** Its data folder, as given to `startPostgres`. */
  readonly from: string;
  /** The data folder of the copy. */
  readonly to: string;
  /** What a server does that starts on the copy: follow a primary, or recover from an archive. */
  readonly signal: 'standby' | 'recovery';
}

/** What belongs to the running server and not to a copy. The log of transactions comes from the primary or the archive. */
const NOT_COPIED = ['postmaster.pid', 'postmaster.opts', 'pg_wal', 'pg_replslot'];

/**
 * Copies the files of a running server, as `pg_basebackup` does, which the embedded binaries lack. The files are
 * consistent only after the recovery that a start on the copy begins with.
 */
export async function copyCluster({ url, from, to, signal }: CopyOptions): Promise<void> {
  const source = path.join(from, 'cluster');
  const cluster = path.join(to, 'cluster');
  await mkdir(cluster, { recursive: true, mode: 0o700 });
  await chmod(to, 0o711);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`SELECT pg_backup_start('copy', fast => true)`);
    const names = await readdir(source);
    const copied = names.filter((name) => !NOT_COPIED.includes(name));
    // Keeps the owner of the files, which only the account of the server may read.
    await run('cp', ['-a', ...copied.map((name) => path.join(source, name)), cluster]);
    const { rows } = await client.query<{ labelfile: string }>(
      'SELECT labelfile FROM pg_backup_stop(wait_for_archive => true)',
    );
    const files = {
      backup_label: rows[0]?.labelfile ?? '',
      [`${signal}.signal`]: '',
    };
    const folders = ['pg_wal', 'pg_replslot'].map((name) => path.join(cluster, name));
    for (const [name, text] of Object.entries(files))
      await writeFile(path.join(cluster, name), text, { mode: 0o600 });
    for (const folder of folders) await mkdir(folder, { mode: 0o700 });
    const made = [
      cluster,
      ...folders,
      ...Object.keys(files).map((name) => path.join(cluster, name)),
    ];
    const account = await unprivilegedAccount();
    if (account !== undefined)
      await Promise.all(made.map((file) => chown(file, account.uid, account.gid)));
  } finally {
    await client.end();
  }
  await copyFile(path.join(from, 'password'), path.join(to, 'password'));
}
