import { placeOf, type TimeRange } from './time-scale.ts';

/** A change of the configuration at a time. */
export interface ChartMarker {
  readonly atMs: number;
  /** What it leads to. */
  readonly version: number;
  /** What changed, in a few words. */
  readonly label: string;
}

/** Markers at one place of the chart. */
interface PlacedMarker {
  /** From 0 to 1. */
  readonly place: number;
  /** The newest of them. */
  readonly version: number;
  readonly label: string;
}

/** Markers that are nearer to each other, as a part of the chart, would overlap. */
const LEAST_DISTANCE = 0.02;

/** The markers that the chart shows, oldest first. Those that would overlap are one. */
export function groupMarkers(
  markers: readonly ChartMarker[],
  range: TimeRange,
): readonly PlacedMarker[] {
  const shown = markers
    .filter(({ atMs }) => atMs >= range.fromMs && atMs <= range.toMs)
    .toSorted((a, b) => a.atMs - b.atMs);
  const groups: ChartMarker[][] = [];
  for (const marker of shown) {
    const group = groups.at(-1);
    const [first] = group ?? [];
    const isNear =
      first !== undefined &&
      placeOf(marker.atMs, range) - placeOf(first.atMs, range) < LEAST_DISTANCE;
    if (group !== undefined && isNear) group.push(marker);
    else groups.push([marker]);
  }
  return groups.flatMap((group) => {
    const first = group[0];
    const last = group.at(-1);
    if (first === undefined || last === undefined) return [];
    const label =
      group.length === 1
        ? last.label
        : `Versions ${first.version} to ${last.version}; the newest: ${last.label}`;
    return [{ place: placeOf(last.atMs, range), version: last.version, label }];
  });
}
