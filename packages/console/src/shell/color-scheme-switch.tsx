import { Menu, UnstyledButton, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import classes from './shell.module.css';

const CHOICES = [
  ['auto', 'As the system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
] as const;

/** Chooses light, dark, or what the system has. */
export function ColorSchemeSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const shown = useComputedColorScheme('light');
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <UnstyledButton className={classes.iconButton ?? ''} aria-label="Colours">
          <span aria-hidden>{shown === 'dark' ? '☾' : '☀'}</span>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        {CHOICES.map(([value, label]) => (
          <Menu.Item
            key={value}
            role="menuitemradio"
            aria-checked={colorScheme === value}
            onClick={() => setColorScheme(value)}
            rightSection={colorScheme === value ? '✓' : undefined}
          >
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
