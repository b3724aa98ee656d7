import { Menu } from '@mantine/core';
import { BookOpen, CircleHelp, Keyboard, Webhook } from 'lucide-react';
import { version } from '../../package.json';
import { IconButton } from '../ui/icon-button.tsx';

interface HelpMenuProps {
  readonly onKeys: () => void;
}

const ICON = { size: 16, strokeWidth: 1.75, 'aria-hidden': true } as const;

/** Where help is: the documentation, the reference of the API, and the keys; and which release this is. */
export function HelpMenu({ onKeys }: HelpMenuProps) {
  return (
    <Menu position="bottom-end" withinPortal={false} width={220}>
      <Menu.Target>
        <IconButton icon={CircleHelp} label="Help" />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          leftSection={<BookOpen {...ICON} />}
          component="a"
          href="/docs/guide"
          target="_blank"
          rel="noreferrer"
        >
          Documentation
        </Menu.Item>
        <Menu.Item
          leftSection={<Webhook {...ICON} />}
          component="a"
          href="/docs"
          target="_blank"
          rel="noreferrer"
        >
          API reference
        </Menu.Item>
        <Menu.Item leftSection={<Keyboard {...ICON} />} onClick={onKeys}>
          Keyboard shortcuts
        </Menu.Item>
        <Menu.Divider />
        <Menu.Label>Version {version}</Menu.Label>
      </Menu.Dropdown>
    </Menu>
  );
}
