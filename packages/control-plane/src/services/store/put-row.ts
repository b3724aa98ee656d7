import { violatedConstraint } from '../../store/failures.ts';

/** Enough for any number of writers of one name, because one of them wins each time. */
const MAX_TRIES = 5;

/**
 * Runs a transaction that creates a row or changes it by name. If another writer has created the row in between, the
 * transaction runs again and changes that row.
 */
export async function putByName<T>(nameKey: string, run: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await run();
    } catch (error) {
      if (violatedConstraint(error) !== nameKey || tries === MAX_TRIES) throw error;
    }
  }
}
