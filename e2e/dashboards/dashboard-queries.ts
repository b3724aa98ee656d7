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
  uid: z.string(),
  title: z.string(),
  panels: z.array(
    z.object({
      title: z.string(),
      targets: z.array(z.object({ expr: z.string() })).default([]),
    }),
  ),
  templating: z.object({ list: z.array(variable) }),
  annotations: z
    .object({ list: z.array(z.object({ name: z.string(), expr: z.string() })).default([]) })
    .default({ list: [] }),
});

/** All queries of the panels and of the marks in them. A variable without a value for all has one of `chosen`, by the uid of the dashboard. */
export function panelQueries(
  chosen: (uid: string) => Readonly<Record<string, string>>,
  rateInterval: string,
): DashboardQuery[] {
  return dashboards().flatMap(({ uid, title, panels, templating, annotations }) => {
    const values = new Map(
      templating.list.map(({ name, allValue }) => [name, allValue ?? chosen(uid)[name] ?? '']),
    );
    const asked = [
      ...panels.flatMap((panel) => panel.targets.map(({ expr }) => [panel.title, expr] as const)),
      ...annotations.list.map(({ name, expr }) => [name, expr] as const),
    ];
    return asked.map(([name, expr]) => ({
      where: `${title}, ${name}`,
      expr: expr
        .replaceAll(/\$__(?:rate_interval|interval|range)\b/g, rateInterval)
        .replaceAll(/\$(\w+)/g, (_text, variableName: string) => valueOf(values, variableName)),
    }));
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
