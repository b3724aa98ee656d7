import path from 'node:path';
import { findOnPath } from '@gateway/local-stack/process/find-on-path';
import { LIBRARIES, unpackedProgram } from './debian-program.ts';

/** A program of Debian, and the environment that it needs. */
export interface DebianTool {
  readonly file: string;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * A program whose package has its name: the one on the PATH, else Debian's, unpacked without root with the libraries that it needs.
 *
 * @param purpose what it is downloaded for, for messages
 * @param inPackage its path in the package
 * @throws {StartError} that says how to install it
 */
export async function findDebianTool(
  name: string,
  purpose: string,
  inPackage = `usr/bin/${name}`,
): Promise<DebianTool> {
  const installed = await findOnPath(name);
  if (installed !== undefined) return { file: installed, env: {} };
  const folder = await unpackedProgram(
    {
      name,
      folder: name,
      purpose,
      program: inPackage,
      command: ['install', '--download-only', '--no-install-recommends', '--yes', name],
      hint: `install ${name} (Debian: apt-get install ${name})`,
    },
    { log: () => undefined },
  );
  return {
    file: path.join(folder, inPackage),
    env: { LD_LIBRARY_PATH: path.join(folder, LIBRARIES) },
  };
}
