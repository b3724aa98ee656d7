import { ActionIcon, Tooltip, type ActionIconProps } from '@mantine/core';
import type { LucideIcon } from 'lucide-react';
import type { ComponentPropsWithRef } from 'react';

interface IconButtonProps
  extends
    Omit<ActionIconProps, 'children'>,
    Omit<ComponentPropsWithRef<'button'>, keyof ActionIconProps> {
  readonly icon: LucideIcon;
  /** What it does: its name, and what is shown under the pointer. */
  readonly label: string;
  /** Whether nothing is shown under the pointer, because what it opened is there. */
  readonly isPlain?: boolean;
}

/** A button that is only an icon. */
export function IconButton({ icon: Icon, label, isPlain = false, ...props }: IconButtonProps) {
  return (
    <Tooltip label={label} withinPortal={false} disabled={isPlain}>
      <ActionIcon variant="subtle" color="gray" size={32} aria-label={label} {...props}>
        <Icon size={16} strokeWidth={1.75} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}
