import { Paper } from '@mantine/core';
import { Empty } from './empty.tsx';

interface NotPermittedProps {
  /** Such as `Your token lacks the scope requests:read.` */
  readonly reason: string | undefined;
}

/** In place of what the session may not see: why, and what the reader may do. */
export function NotPermitted({ reason }: NotPermittedProps) {
  return (
    <Paper withBorder>
      <Empty title={reason ?? ''}>
        Sign in with another token, or ask for one that has it. The menu with the name of your token
        says what it has.
      </Empty>
    </Paper>
  );
}
