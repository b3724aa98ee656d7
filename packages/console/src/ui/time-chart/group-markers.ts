import { countedText } from '@gateway/client/measures';
import { placeOf, type TimeRange } from './time-scale.ts';

/** A change at a time, and what it leads to: a version of the configuration, or a change in the history of a route. */
export interface ChartMarker {
  readonly atMs: number;
  readonly of: { readonly version: number } | { readonly routeId: string; readonly change: string };
  /** What changed, in a few words. */
  readonly label: string;
}

/** Markers at one place of the chart. */
interface PlacedMarker extends Pick<ChartMarker, 'of' | 'label'> {
  /** From 0 to 1. */
  readonly place: number;
}

/** The least distance of two markers, as a part of the chart: 24 px in the narrowest chart, so that each can be pressed. */
const LEAST_DISTANCE = 0.1;

/** The markers that the chart shows, oldest first. Those that would overlap are one. */
export function groupMarkers(
  markers: readonly ChartMarker[],
  range: TimeRange,
): readonly PlacedMarker[] {
  const shown = markers
    .filter(({ atMs }) => atMs >= range.fromMs && atMs <= range.toMs)
    .toSorted((a, b) => b.atMs - a.atMs);
  // Each group stands at its newest marker, so they are made from there.
  const groups: ChartMarker[][] = [];
  for (const marker of shown) {
    const group = groups[0];
    const newest = group?.at(-1);
    const isNear =
      newest !== undefined &&
      placeOf(newest.atMs, range) - placeOf(marker.atMs, range) < LEAST_DISTANCE;
    if (group !== undefined && isNear) group.unshift(marker);
    else groups.unshift([marker]);
  }
  return groups.flatMap((group) => {
    const first = group[0];
    const last = group.at(-1);
    if (first === undefined || last === undefined) return [];
    const label =
      group.length === 1 ? last.label : `${severalText(group)}; the newest: ${last.label}`;
    return [{ place: placeOf(last.atMs, range), of: last.of, label }];
  });
}

/** Such as `Versions 3 to 4` or `2 changes`. */
function severalText(group: readonly ChartMarker[]): string {
  const [first, last] = [group[0]?.of, group.at(-1)?.of];
  if (first === undefined || last === undefined) return '';
  return 'version' in first && 'version' in last
    ? `Versions ${first.version} to ${last.version}`
    : countedText(group.length, 'change');
}
