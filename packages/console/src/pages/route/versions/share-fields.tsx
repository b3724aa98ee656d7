import { Button, Group, Stack, Text } from '@mantine/core';
import { useField } from '../../../ui/form/form-context.ts';
import { shareOf, STEPS, withShare } from './shares.ts';
import { SplitBar } from './split-bar.tsx';
import type { Versions } from './shares.ts';

interface ShareFieldsProps {
  readonly isEditable: boolean;
  readonly onTouch: () => void;
}

/** The bar of the shares, and below it the usual steps of the last version, which is the new one by custom. */
export function ShareFields({ isEditable, onTouch }: ShareFieldsProps) {
  const { value, set } = useField('versions');
  // Somebody else may have replaced the versions by one service since the page was read.
  const versions = Array.isArray(value) ? (value as Versions) : [];
  const canary = versions.length - 1;
  const share = shareOf(versions, canary);

  function move(moved: readonly Versions[number][]): void {
    onTouch();
    set(moved);
  }

  return (
    <Stack gap="sm">
      <SplitBar versions={versions} isEditable={isEditable} onMove={move} />
      {isEditable && versions.length > 1 && (
        <Group gap={4} role="group" aria-label={`Share of ${versions[canary]?.name}`}>
          <Text c="dimmed" me={4}>
            Set {versions[canary]?.name} to
          </Text>
          {STEPS.map((percent) => (
            <Button
              key={percent}
              size="compact-sm"
              variant={Math.abs(share - percent) < 0.05 ? 'light' : 'default'}
              aria-pressed={Math.abs(share - percent) < 0.05}
              onClick={() => move(withShare(versions, canary, percent))}
            >
              {percent} %
            </Button>
          ))}
        </Group>
      )}
    </Stack>
  );
}
