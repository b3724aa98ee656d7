import { Tooltip } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import classes from './time-chart.module.css';
import { groupMarkers, type ChartMarker } from './group-markers.ts';
import type { TimeRange } from './time-scale.ts';

interface ChartMarkersProps {
  readonly markers: readonly ChartMarker[];
  readonly range: TimeRange;
}

/** Marks where the configuration changed; each leads to the newest change there. Those that would overlap are one. */
export function ChartMarkers({ markers, range }: ChartMarkersProps) {
  return groupMarkers(markers, range).map(({ place, version, label }) => (
    <Tooltip key={version} label={label} multiline maw={320} withinPortal={false}>
      <Link
        to="/configuration/$version"
        params={{ version: String(version) }}
        className={classes.marker ?? ''}
        style={{ left: `${place * 100}%` }}
        aria-label={label}
      />
    </Tooltip>
  ));
}
