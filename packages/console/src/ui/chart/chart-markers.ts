import type UPlot from 'uplot';

/** Something that happened at a time, such as a change of the configuration. */
export interface ChartMarker {
  /** s since the Unix epoch. */
  readonly at: number;
  /** What happened, in a few words. */
  readonly label: string;
}

/** Of a marker at the top of the chart, px. */
const FLAG = 8;

/** Draws a line with a flag at each marker that the chart shows. */
export function drawMarkers(plot: UPlot, markers: readonly ChartMarker[], color: string): void {
  const { ctx, bbox } = plot;
  const { min = null, max = null } = plot.scales['x'] ?? {};
  if (min === null || max === null) return;
  const scale = devicePixelRatio;
  ctx.save();
  ctx.strokeStyle = color;
  ctx.fillStyle = color;
  ctx.lineWidth = scale;
  ctx.setLineDash([4 * scale, 4 * scale]);
  for (const { at } of markers) {
    if (at < min || at > max) continue;
    const x = Math.round(plot.valToPos(at, 'x', true));
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x + FLAG * scale, bbox.top + (FLAG / 2) * scale);
    ctx.lineTo(x, bbox.top + FLAG * scale);
    ctx.fill();
  }
  ctx.restore();
}

/** The markers nearer to this time than to any other of the chart. */
export function markersWithin(
  markers: readonly ChartMarker[],
  times: readonly number[],
  index: number,
): readonly ChartMarker[] {
  const at = times[index];
  if (at === undefined) return [];
  const middle = (other: number | undefined, otherwise: number) =>
    other === undefined ? otherwise : (at + other) / 2;
  const from = middle(times[index - 1], -Infinity);
  const to = middle(times[index + 1], Infinity);
  return markers.filter((one) => one.at >= from && one.at < to);
}
