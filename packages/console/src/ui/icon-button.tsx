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
}

/** A button that is only an icon. */
export function IconButton({ icon: Icon, label, ...props }: IconButtonProps) {
  return (
    // Over what it opened, its name would be in the way.
    <Tooltip label={label} withinPortal={false} disabled={props['aria-expanded'] === true}>
      <ActionIcon variant="subtle" color="gray" size={32} aria-label={label} {...props}>
        <Icon size={16} strokeWidth={1.75} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}
