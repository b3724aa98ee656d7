import {
  Popover,
  Radio,
  Stack,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { Moon, Sun } from 'lucide-react';
import { IconButton } from '../ui/icon-button.tsx';

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
        <IconButton icon={shown === 'dark' ? Moon : Sun} label="Colours" />
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
