import { notifications } from '@mantine/notifications';

/** Says for a moment that a change succeeded. A failure is shown where it happened, if that is still on the page. */
export function notifySuccess(message: string): void {
  notifications.show({ message, color: 'green', autoClose: 5000, withBorder: true });
}

/** Says that an action failed which has no place of its own on the page. It stays until the reader closes it. */
export function notifyFailure(message: string): void {
  notifications.show({ message, color: 'red', autoClose: false, withBorder: true });
}
