import { readdirSync, readFileSync } from 'node:fs';
import { z } from 'zod';

/** A query of a delivered dashboard, as Grafana would send it. */
export interface DashboardQuery {
  /** The dashboard and the panel or variable. */
  readonly where: string;
  readonly expr: string;
}

/** The values of a variable that a dashboard offers. */
export interface VariableQuery {
  readonly where: string;
  readonly label: string;
  readonly series: string;
}

const folder = new URL('../../deploy/grafana/dashboards/', import.meta.url);
const variable = z.object({
  name: z.string(),
  type: z.string(),
  query: z.string(),
  allValue: z.string().optional(),
});
const dashboard = z.object({
  title: z.string(),
  panels: z.array(
    z.object({
      title: z.string(),
      targets: z.array(z.object({ expr: z.string() })).default([]),
    }),
  ),
  templating: z.object({ list: z.array(variable) }),
});

/** All queries of the panels. A variable without a value for all has one of `chosen`. */
export function panelQueries(
  chosen: Readonly<Record<string, string>>,
  rateInterval: string,
): DashboardQuery[] {
  return dashboards().flatMap(({ title, panels, templating }) => {
    const values = new Map(
      templating.list.map(({ name, allValue }) => [name, allValue ?? chosen[name] ?? '']),
    );
    return panels.flatMap((panel) =>
      panel.targets.map(({ expr }) => ({
        where: `${title}, ${panel.title}`,
        expr: expr
          .replaceAll('$__rate_interval', rateInterval)
          .replaceAll(/\$(\w+)/g, (_text, name: string) => valueOf(values, name)),
      })),
    );
  });
}

/** All `label_values(series, label)` of the variables, with every value of the variables that they depend on. */
export function variableQueries(): VariableQuery[] {
  return dashboards().flatMap(({ title, templating }) =>
    templating.list
      .filter(({ type }) => type === 'query')
      .map(({ name, query }) => {
        const [, series = '', label = ''] = /^label_values\((.+), (\w+)\)$/.exec(query) ?? [];
        return { where: `${title}, ${name}`, label, series: series.replaceAll(/\$\w+/g, '.*') };
      }),
  );
}

/** Each selector of series in an expression. */
export function selectorsOf(expr: string): string[] {
  return expr.match(/\b[a-z]\w+\{[^}]*\}/g) ?? [];
}

function valueOf(values: ReadonlyMap<string, string>, name: string): string {
  const value = values.get(name);
  if (value === undefined) throw new Error(`the dashboard has no variable ${name}`);
  return value;
}

function dashboards() {
  return readdirSync(folder).map((name) =>
    dashboard.parse(JSON.parse(readFileSync(new URL(name, folder), 'utf8'))),
  );
}
