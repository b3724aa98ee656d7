import { Button, Group, Text } from '@mantine/core';
import { hideNotification, showNotification } from '@mantine/notifications';
import { isOutdated } from '../api/client.ts';
import { errorText } from './error-text.ts';
import { notifyFailure, notifySuccess } from './notify.ts';

/** Long enough to notice what one has done. */
const SHOWN_MS = 15_000;

/** How a change is undone. */
export interface Undo {
  /** Such as `Route payments is active again.` */
  readonly done: string;
  /** Undoes it, only if nothing was changed since. */
  readonly run: () => Promise<unknown>;
}

/** Says that a change succeeded, with a button that undoes it. */
export function notifyWithUndo(message: string, undo: Undo): void {
  const id: string = showNotification({
    color: 'green',
    autoClose: SHOWN_MS,
    withBorder: true,
    message: (
      <Group justify="space-between" wrap="nowrap" gap="sm">
        <Text size="sm" inherit>
          {message}
        </Text>
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => {
            hideNotification(id);
            void undone(undo);
          }}
        >
          Undo
        </Button>
      </Group>
    ),
  });
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
