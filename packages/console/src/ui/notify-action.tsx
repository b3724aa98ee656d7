import { Button, Group, Text } from '@mantine/core';
import { hideNotification, showNotification } from '@mantine/notifications';

/** Long enough to notice what one has done, and to think of what comes next. */
const SHOWN_MS = 15_000;

/** What a notice offers. */
export interface NoticeAction {
  /** On its button. */
  readonly label: string;
  readonly run: () => void;
}

/** Says that a change succeeded, with a button for what may come next. The notice ends when it is pressed. */
export function notifyWithAction(message: string, { label, run }: NoticeAction): void {
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
          flex="none"
          onClick={() => {
            hideNotification(id);
            run();
          }}
        >
          {label}
        </Button>
      </Group>
    ),
  });
}
