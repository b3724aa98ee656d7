import { Button, Tooltip, type ButtonProps } from '@mantine/core';
import type { MouseEvent, ReactNode } from 'react';
import { useScope } from '../api/rights.ts';

interface ScopedButtonProps extends ButtonProps {
  /** The scope that the action needs. */
  readonly scope: string;
  readonly onClick: (event: MouseEvent<HTMLButtonElement>) => void;
  readonly children: ReactNode;
}

/**
 * A button that is disabled, and says why, if the token of the session lacks the scope. It can be focused even then, so that
 * the reason can be read by keyboard.
 */
export function ScopedButton({ scope, onClick, ...props }: ScopedButtonProps) {
  const { allowed, reason } = useScope(scope);
  if (allowed) return <Button {...props} onClick={onClick} />;
  return (
    <Tooltip label={reason} events={{ hover: true, focus: true, touch: true }}>
      <Button {...props} data-disabled aria-disabled onClick={(event) => event.preventDefault()} />
    </Tooltip>
  );
}
