import { notifications } from '@mantine/notifications';

/** Says for a moment that a change succeeded. Failures are shown where they happen, not here. */
export function notifySuccess(message: string): void {
  notifications.show({ message, color: 'green', autoClose: 5000, withBorder: true });
}
