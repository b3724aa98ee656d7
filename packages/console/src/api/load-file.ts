import { ConnectionError } from '@gateway/client';
import { isControlPlaneAway } from './client.ts';

/** A file of the console is missing, because the console was built again since this tab was opened. */
export class OutdatedTab extends Error {
  override readonly name = 'OutdatedTab';
}

/**
 * Loads a file of the console. Browsers do not say why a file was not loaded, so the control plane is asked.
 * @throws ConnectionError if the control plane does not answer, OutdatedTab if it does
 */
export async function loadFile<Content>(load: () => Promise<Content>): Promise<Content> {
  try {
    return await load();
  } catch (cause) {
    if (await isControlPlaneAway()) {
      throw new ConnectionError('A file of the console was not loaded.', { cause });
    }
    throw new OutdatedTab('A file of the console is missing.', { cause });
  }
}
