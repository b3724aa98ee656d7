import { Group, Text } from '@mantine/core';
import { localTime } from '../time-text.ts';
import { visibleText } from '../visible-text.ts';
import { markersWithin } from './chart-markers.ts';
import type { ChartMarker } from './chart-markers.ts';
import type { ChartLine } from './chart-options.ts';
import classes from './chart.module.css';

interface ChartLegendProps {
  readonly times: readonly number[];
  readonly lines: readonly ChartLine[];
  readonly valueText: (value: number) => string;
  /** The index of the time under the pointer; undefined: the last one. */
  readonly pointed: number | undefined;
  readonly markers: readonly ChartMarker[];
}

/** The names of the lines, with their values at the pointer, or else the last ones. */
export function ChartLegend({ times, lines, valueText, pointed, markers }: ChartLegendProps) {
  const index = pointed !== undefined && pointed < times.length ? pointed : times.length - 1;
  const at = times[index];
  const happened = pointed === undefined ? [] : markersWithin(markers, times, index);
  return (
    <Group component="figcaption" gap="md">
      {lines.map(({ name, color, values }) => (
        <Group key={name} gap={6} wrap="nowrap">
          <span className={classes.swatch} data-color={color} />
          <Text size="xs" span>
            {name} {textOf(values[index], valueText)}
          </Text>
        </Group>
      ))}
      <Text size="xs" c="dimmed" span>
        {at !== undefined && localTime(new Date(at * 1000).toISOString())}
      </Text>
      {happened.map((one) => (
        <Text key={`${one.at} ${one.label}`} size="xs" span>
          {visibleText(one.label)}
        </Text>
      ))}
    </Group>
  );
}

function textOf(value: number | null | undefined, valueText: (value: number) => string): string {
  return value === null || value === undefined ? '–' : valueText(value);
}
