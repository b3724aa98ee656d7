import { Menu, Text } from '@mantine/core';
import { Ellipsis } from 'lucide-react';
import { Fragment } from 'react';
import type { Needed } from '../api/needed-right.ts';
import { useRight } from '../api/rights.ts';
import { IconButton } from './icon-button.tsx';

interface MenuAction {
  readonly label: string;
  /** Whether it destroys something. */
  readonly isDangerous?: boolean;
  readonly run: () => void;
}

interface ScopedMenuProps extends Needed {
  /** Whether it stands in a row, which is low. */
  readonly isSmall?: boolean;
  /** Names the menu, such as `Actions of billing`. */
  readonly label: string;
  readonly items: readonly MenuAction[];
}

/** Actions that are used less, behind a button. If the session may not do them, the menu says why. */
export function ScopedMenu({ label, items, isSmall = false, ...needed }: ScopedMenuProps) {
  const { allowed, reason } = useRight(needed);
  return (
    <Menu position="bottom-end" width={180}>
      <Menu.Target>
        <IconButton icon={Ellipsis} label={label} size={isSmall ? 26 : 32} />
      </Menu.Target>
      <Menu.Dropdown>
        {!allowed && (
          <Menu.Label>
            <Text size="xs">{reason}</Text>
          </Menu.Label>
        )}
        {items.map((item, index) => (
          <Fragment key={item.label}>
            {item.isDangerous === true && index > 0 && <Menu.Divider />}
            <Menu.Item
              disabled={!allowed}
              onClick={item.run}
              {...(item.isDangerous === true && allowed && { c: 'var(--bad)' })}
            >
              {item.label}
            </Menu.Item>
          </Fragment>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
