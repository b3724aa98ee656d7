import * as dashboard from '@grafana/grafana-foundation-sdk/dashboard';
import { newDashboard, type Dashboard } from './classic.ts';
import { versionAnnotation } from './annotations.ts';
import { consoleVariable } from './console.ts';
import { linkTo, otherDashboards, TAG, type SeriesLink } from './link.ts';
import { DATA_SOURCE, type PanelBuilder } from './panel.ts';
import { Queries, type LabelVariable } from './query.ts';

export interface Row {
  readonly title: string;
  readonly panels: readonly PanelBuilder[];
}

export interface DashboardOptions {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly variables: readonly Variable[];
  readonly rows: readonly Row[];
  /** At the top, beside the list of dashboards. */
  readonly links?: readonly SeriesLink[];
  /** The queries that say when the configuration changed; by default nothing says so. */
  readonly versionsOf?: Queries;
}

/** A variable that filters by a label. */
export interface Variable {
  readonly name: LabelVariable;
  readonly label: string;
  /** The metric whose values of the label are offered. */
  readonly of: string;
  /** What the label is called there, if not as the variable. */
  readonly labelled?: string;
  /** Other variables that filter what is offered. */
  readonly within?: readonly LabelVariable[];
  /** Further matchers of the series. */
  readonly where?: readonly string[];
  /** One value at a time; otherwise several, and all at first. */
  readonly single?: boolean;
}

/** A dashboard with the variables and links that all have. */
export function framed(options: DashboardOptions): Dashboard {
  const { uid, title, description, variables, rows, links = [], versionsOf } = options;
  const builder = newDashboard(`Gateway: ${title}`)
    .uid(uid)
    .description(description)
    .tags([TAG])
    .timezone('browser')
    .time({ from: 'now-1h', to: 'now' })
    .refresh('30s')
    .tooltip(dashboard.DashboardCursorSync.Crosshair)
    .annotations(versionsOf === undefined ? [] : [versionAnnotation(versionsOf)])
    .link(otherDashboards());
  for (const { title: to, url } of links) builder.link(linkTo(to, url));
  builder.withVariable(dataSource());
  builder.withVariable(consoleVariable());
  for (const variable of variables) builder.withVariable(ofLabel(variable));
  let id = 0;
  for (const { title: rowTitle, panels } of rows) {
    builder.withRow(new dashboard.RowBuilder(rowTitle).id((id += 1)));
    for (const panel of panels) builder.withPanel(panel.id((id += 1)));
  }
  return builder.build();
}

function dataSource(): dashboard.DatasourceVariableBuilder {
  return new dashboard.DatasourceVariableBuilder('datasource')
    .label('Data source')
    .type('prometheus');
}

function ofLabel({
  name,
  label,
  of,
  labelled = name,
  within = [],
  where = [],
  single = false,
}: Variable) {
  const variable = new dashboard.QueryVariableBuilder(name)
    .label(label)
    .datasource(DATA_SOURCE)
    .query(new Queries(within).labelValues(of, labelled, where))
    .refresh(dashboard.VariableRefresh.OnTimeRangeChanged)
    .sort(dashboard.VariableSort.AlphabeticalAsc);
  if (single) return variable;
  return variable
    .multi(true)
    .includeAll(true)
    .allValue('.*')
    .current({ text: 'All', value: '$__all' });
}
