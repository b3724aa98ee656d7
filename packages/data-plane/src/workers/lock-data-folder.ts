import { FolderInUseError, lockFolder, type FolderLock } from '../files/lock-folder.ts';
import { makeFolder } from '@gateway/shared/files/make-folder';
import type { Runner } from '@gateway/shared/runner';
import type { Logger } from '@gateway/shared/telemetry/logger';

/**
 * Creates the folder of a data plane and locks it until the process has stopped, because two processes would overwrite each
 * other's last-good configuration and send each other's spooled records. A folder that cannot be locked for another reason,
 * such as a disk that is not mounted, does not prevent the start.
 *
 * @returns the lock, which the workers of a group inherit: if their primary is killed, they use the folder until they end
 * @throws if another data plane uses the folder
 */
export async function lockDataFolder(
  folder: string,
  runner: Runner,
  log: Logger,
): Promise<FolderLock | undefined> {
  try {
    await makeFolder(folder, 0o700);
    const lock = await lockFolder(folder);
    runner.defer('data folder', () => lock.release());
    return lock;
  } catch (error) {
    if (error instanceof FolderInUseError) {
      throw new Error(
        `the data folder ${error.folder} is in use by another data plane; stop that one, or set DATA_PLANE_DATA_DIR to another folder`,
        { cause: error },
      );
    }
    log.warn({ folder, reason: String(error) }, 'data folder not locked');
    return undefined;
  }
}
