import * as common from '@grafana/grafana-foundation-sdk/common';
import * as dashboard from '@grafana/grafana-foundation-sdk/dashboard';
import * as heatmapPanel from '@grafana/grafana-foundation-sdk/heatmap';
import * as prometheus from '@grafana/grafana-foundation-sdk/prometheus';
import * as statPanel from '@grafana/grafana-foundation-sdk/stat';
import * as timeseries from '@grafana/grafana-foundation-sdk/timeseries';
import * as units from '@grafana/grafana-foundation-sdk/units';
import { alertLimit, JUST_ABOVE_ZERO } from './alert.ts';
import { linkTo, runbookLinks, type SeriesLink } from './link.ts';
import type { Query } from './query.ts';
import { thresholds } from './thresholds.ts';

export interface PanelOptions {
  readonly title: string;
  /** What it shows, and what a bad value means. */
  readonly description: string;
  readonly unit: string;
  readonly queries: readonly Query[];
  /** The alerts of this subject. The first one's limit is the threshold of the panel. */
  readonly alerts?: readonly string[];
  /** Of 24 columns. */
  readonly width?: number;
  readonly max?: number;
  /** Adds the series up, as parts of a whole. */
  readonly stacked?: boolean;
  /** The colours of series by a pattern of their names, for names that mean good or bad. */
  readonly colors?: readonly (readonly [names: string, color: string])[];
  /** Where a click on a series leads. */
  readonly dataLinks?: readonly SeriesLink[];
}

export type PanelBuilder =
  | timeseries.PanelBuilder
  | statPanel.PanelBuilder
  | heatmapPanel.PanelBuilder;

/** The data source that is chosen in the dashboard. */
export const DATA_SOURCE = { type: 'prometheus', uid: '${datasource}' };
const GRAPH_HEIGHT = 8;
const STAT_HEIGHT = 4;
/** How far an axis reaches at least, by unit. If all values are 0, Grafana's would end at 100, or at 10000 %. */
const SOFT_MAX: ReadonlyMap<string, number> = new Map([
  [units.PercentUnit, 0.01],
  [units.Short, 1],
  [units.RequestsPerSecond, 1],
  [units.OpsPerSecond, 1],
]);
const { GraphThresholdsStyleMode, LegendDisplayMode, LegendPlacement, StackingMode } = common;

/** A graph over time. */
export function graph(options: PanelOptions): timeseries.PanelBuilder {
  const { width = 12, stacked = false, alerts = [], max } = options;
  const [mode, opacity] = stacked ? [StackingMode.Normal, 30] : [StackingMode.None, 5];
  const panel = new timeseries.PanelBuilder()
    .span(width)
    .height(GRAPH_HEIGHT)
    .axisSoftMin(0)
    .colorScheme(colors(dashboard.FieldColorModeId.PaletteClassic))
    // Only the part of the graph where the alert fires has a colour.
    .thresholds(thresholds(alerts, 'transparent'))
    .fillOpacity(opacity)
    .showPoints(common.VisibilityMode.Never)
    .stacking(new common.StackingConfigBuilder().mode(mode).group('A'))
    .thresholdsStyle(new common.GraphThresholdsStyleConfigBuilder().mode(thresholdStyle(alerts)))
    .tooltip(new common.VizTooltipOptionsBuilder().mode(common.TooltipDisplayMode.Multi))
    .legend(
      new common.VizLegendOptionsBuilder()
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom)
        .showLegend(true)
        .calcs([]),
    );
  if (max !== undefined) panel.max(max);
  else if (SOFT_MAX.has(options.unit)) panel.axisSoftMax(SOFT_MAX.get(options.unit) ?? 0);
  for (const [names, color] of options.colors ?? []) {
    panel.overrideByRegexp(names, [{ id: 'color', value: { mode: 'fixed', fixedColor: color } }]);
  }
  return configured(panel, options);
}

/**
 * An area is red where the alert fires. If it fires above 0, a line has to do: the whole graph would be red while nothing is
 * wrong.
 */
function thresholdStyle(alerts: readonly string[]): common.GraphThresholdsStyleMode {
  const [first] = alerts;
  if (first === undefined) return GraphThresholdsStyleMode.Off;
  const { side, value } = alertLimit(first);
  return side === 'above' && value === JUST_ABOVE_ZERO
    ? GraphThresholdsStyleMode.Dashed
    : GraphThresholdsStyleMode.DashedAndArea;
}

/** The last value as a number, in the colour of its threshold. */
export function figure(options: PanelOptions): statPanel.PanelBuilder {
  const panel = new statPanel.PanelBuilder()
    .span(options.width ?? 4)
    .height(STAT_HEIGHT)
    .colorMode(common.BigValueColorMode.Value)
    .graphMode(common.BigValueGraphMode.Area)
    .noValue('no data')
    .colorScheme(colors(dashboard.FieldColorModeId.Thresholds))
    .thresholds(thresholds(options.alerts ?? [], 'green'))
    .reduceOptions(new common.ReduceDataOptionsBuilder().calcs(['lastNotNull']));
  return configured(panel, options);
}

/** A histogram over time: the darker, the more. */
export function heatmap(options: PanelOptions): heatmapPanel.PanelBuilder {
  const panel = new heatmapPanel.PanelBuilder()
    .span(options.width ?? 12)
    .height(GRAPH_HEIGHT)
    .calculate(false)
    .yAxis(new heatmapPanel.YAxisConfigBuilder().unit(options.unit));
  return configured(panel, options, prometheus.PromQueryFormat.Heatmap);
}

/** What every panel has. */
function configured<T extends PanelBuilder>(
  panel: T,
  { title, description, unit, queries, alerts = [], dataLinks = [] }: PanelOptions,
  format = prometheus.PromQueryFormat.TimeSeries,
): T {
  panel.title(title).description(description).unit(unit).datasource(DATA_SOURCE);
  panel.links(runbookLinks(alerts));
  if (dataLinks.length > 0) panel.dataLinks(dataLinks.map(({ title: to, url }) => linkTo(to, url)));
  for (const [index, { expr, legend }] of queries.entries()) {
    panel.withTarget(
      new prometheus.DataqueryBuilder()
        .refId(String.fromCodePoint(0x41 + index))
        .datasource(DATA_SOURCE)
        .expr(expr)
        .legendFormat(legend)
        .format(format)
        .range(),
    );
  }
  return panel;
}

function colors(mode: dashboard.FieldColorModeId): dashboard.FieldColorBuilder {
  return new dashboard.FieldColorBuilder().mode(mode);
}
