import {
  Popover,
  Radio,
  Stack,
  UnstyledButton,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
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
    <Popover position="bottom-end" withinPortal={false} trapFocus returnFocus>
      <Popover.Target>
        <UnstyledButton className={classes.iconButton ?? ''} aria-label="Colours">
          <span aria-hidden>{shown === 'dark' ? '☾' : '☀'}</span>
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown aria-label="Colours">
        <Radio.Group
          label="Colours"
          value={colorScheme}
          onChange={(chosen) => setColorScheme(chosen)}
        >
          <Stack gap="xs" pt="xs">
            {CHOICES.map(([value, label]) => (
              <Radio key={value} value={value} label={label} />
            ))}
          </Stack>
        </Radio.Group>
      </Popover.Dropdown>
    </Popover>
  );
}
