import { Group, Slider, Stack, Text } from '@mantine/core';
import type { Route } from '../../../api/client.ts';
import { percentText, weightText } from '../../routes/weight-text.ts';
import { largestWeight } from './moved-weights.ts';

type Version = NonNullable<Route['versions']>[number];

interface VersionRowProps {
  readonly version: Version;
  readonly versions: readonly Version[];
  readonly serviceName: string;
  /** Requests of the last five minutes by version; undefined: not known yet, or not readable. */
  readonly split: ReadonlyMap<string, number> | undefined;
  readonly isEditable: boolean;
  readonly onMove: (weight: number) => void;
}

/** A version: its slider and share, and beside them its part of the requests of the last five minutes. */
export function VersionRow(props: VersionRowProps) {
  const { version, versions, serviceName, split, isEditable, onMove } = props;
  const { name, weight } = version;
  const largest = largestWeight(versions);
  return (
    <Stack gap={4}>
      <Group justify="space-between" gap="xs">
        <Text size="sm">
          <Text span fw={600} inherit>
            {name}
          </Text>{' '}
          to {serviceName}
        </Text>
        <Text size="sm">
          {weightText(weight, versions)}
          {split !== undefined && (
            <Text span c="dimmed" inherit>
              {' '}
              (last 5 minutes: {splitText(name, split)})
            </Text>
          )}
        </Text>
      </Group>
      <Slider
        thumbLabel={`Weight of ${name}`}
        value={weight}
        min={0}
        max={largest}
        step={1}
        label={null}
        disabled={!isEditable}
        onChange={onMove}
      />
    </Stack>
  );
}

function splitText(name: string, split: ReadonlyMap<string, number>): string {
  const all = [...split.values()].reduce((total, one) => total + one, 0);
  if (all === 0) return 'no requests';
  const count = split.get(name) ?? 0;
  return `${percentText(count, all)}, ${count.toLocaleString()} of ${all.toLocaleString()}`;
}
