import { useBlocker, type ShouldBlockFn } from '@tanstack/react-router';
import { useSyncExternalStore } from 'react';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { discardUnsaved, hasUnsaved } from '../ui/form/unsaved.ts';
import { askedToLeave, subscribeToLeaving, answerLeaving } from '../ui/form/ask-to-leave.ts';

/** A form stays on the page while only a tab or a filter of the page changes. */
const leavesForm: ShouldBlockFn = ({ current, next }) =>
  hasUnsaved() &&
  (next.pathname !== current.pathname || environmentOf(next) !== environmentOf(current));

function environmentOf({ search }: { readonly search: object }): unknown {
  return 'environment' in search ? search.environment : undefined;
}

/**
 * Asks before a form with unsaved input is left: by a link, by back and forward, by another environment, and by
 * signing out. The browser itself asks before a reload.
 */
export function LeaveGuard() {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: leavesForm,
    enableBeforeUnload: hasUnsaved,
    withResolver: true,
  });
  const isAsked = useSyncExternalStore(subscribeToLeaving, askedToLeave);

  function leave(): Promise<void> {
    discardUnsaved();
    proceed?.();
    answerLeaving(true);
    return Promise.resolve();
  }

  function stay(): void {
    reset?.();
    answerLeaving(false);
  }

  return (
    <ConfirmDialog
      opened={status === 'blocked' || isAsked}
      onClose={stay}
      title="Leave without saving?"
      action="Leave"
      cancel="Stay"
      onConfirm={leave}
    >
      What you typed in the form is not saved, and is lost if you leave.
    </ConfirmDialog>
  );
}
