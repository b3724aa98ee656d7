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
  return groupMarkers(markers, range).map(({ place, of, label }) => {
    const look = {
      className: classes.marker ?? '',
      style: { left: `${place * 100}%` },
      'aria-label': label,
    };
    return (
      <Tooltip key={place} label={label} multiline maw={320} withinPortal={false}>
        {'version' in of ? (
          <Link to="/configuration/$version" params={{ version: String(of.version) }} {...look} />
        ) : (
          <Link
            to="/routes/$routeId"
            params={{ routeId: of.routeId }}
            search={{ tab: 'history', change: of.change }}
            {...look}
          />
        )}
      </Tooltip>
    );
  });
}
