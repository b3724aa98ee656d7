import { access, constants } from 'node:fs/promises';
import path from 'node:path';

/** Whether the file exists and may be run. */
export async function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** The path of a program, if it is installed. */
export async function findOnPath(name: string): Promise<string | undefined> {
  // Daemons may be in a folder that is not on the PATH of an ordinary user.
  const folders = [
    ...(process.env['PATH'] ?? '').split(path.delimiter),
    '/usr/sbin',
    '/usr/local/sbin',
  ];
  for (const folder of folders.filter((one) => path.isAbsolute(one))) {
    const file = path.join(folder, name);
    if (await isExecutable(file)) return file;
  }
  return undefined;
}
