import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { openCluster } from '@gateway/local-stack/postgres/cluster';
import { postgresBinaries } from '@gateway/local-stack/postgres/binaries';
import { unprivilegedAccount } from '@gateway/local-stack/process/unprivileged';

/** The folder of a new cluster that was never started. Set by the global setup of jest. */
const VARIABLE = 'TEST_NEW_CLUSTER';

/** Makes the cluster that `copyNewCluster` copies: once per run, because initdb takes a second of CPU time. */
export async function makeNewCluster(folder: string): Promise<void> {
  const options = { dataDir: folder, log: () => undefined };
  await openCluster(await postgresBinaries(), await unprivilegedAccount(), options);
  process.env[VARIABLE] = folder;
}

/** Gives `startPostgres` a new cluster in `dataDir`, a folder that does not exist yet. */
export function copyNewCluster(dataDir: string): void {
  const from = process.env[VARIABLE];
  if (from === undefined) throw new Error(`${VARIABLE} is set by the global setup of jest`);
  mkdirSync(path.dirname(dataDir), { recursive: true });
  // Keeps the owner of the files, which only the account of the server may read.
  execFileSync('cp', ['-a', from, dataDir]);
}
