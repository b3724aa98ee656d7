import { isOutdated } from '../api/client.ts';
import { errorText } from './error-text.ts';
import { notifyWithAction } from './notify-action.tsx';
import { notifyFailure, notifySuccess } from './notify.ts';

/** How a change is undone. */
export interface Undo {
  /** Such as `Route payments is active again.` */
  readonly done: string;
  /** Undoes it, only if nothing was changed since. */
  readonly run: () => Promise<unknown>;
}

/** Says that a change succeeded, with a button that undoes it. */
export function notifyWithUndo(message: string, undo: Undo): void {
  notifyWithAction(message, { label: 'Undo', run: () => void undone(undo) });
}

async function undone({ run, done }: Undo): Promise<void> {
  try {
    await run();
    notifySuccess(done);
  } catch (error) {
    notifyFailure(
      isOutdated(error)
        ? 'It was not undone: it was changed again meanwhile.'
        : `It was not undone. ${errorText(error)}`,
    );
  }
}
