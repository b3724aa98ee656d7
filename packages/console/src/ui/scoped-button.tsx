import { Button, Tooltip, type ButtonProps } from '@mantine/core';
import type { MouseEvent, ReactNode } from 'react';
import type { Needed } from '../api/needed-right.ts';
import { useRight } from '../api/rights.ts';

interface ScopedButtonProps extends ButtonProps, Needed {
  readonly onClick: (event: MouseEvent<HTMLButtonElement>) => void;
  readonly children: ReactNode;
}

/**
 * A button that is disabled, and says why, if the token of the session lacks what it needs. It can be focused even then, so that
 * the reason can be read by keyboard.
 */
export function ScopedButton(given: ScopedButtonProps) {
  const { scope, allRoutes, allEnvironments, onClick, ...props } = given;
  const { allowed, reason } = useRight({ scope, allRoutes, allEnvironments });
  if (allowed) return <Button {...props} onClick={onClick} />;
  return (
    <Tooltip label={reason} events={{ hover: true, focus: true, touch: true }}>
      <Button {...props} data-disabled aria-disabled onClick={(event) => event.preventDefault()} />
    </Tooltip>
  );
}
