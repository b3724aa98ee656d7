import { readdirSync, readFileSync } from 'node:fs';
import { z } from 'zod';

const panel = z.looseObject({
  targets: z
    .array(z.looseObject({ expr: z.string(), legendFormat: z.string().default('') }))
    .default([]),
});
const dashboard = z.looseObject({
  uid: z.string(),
  title: z.string(),
  links: z.array(z.looseObject({ title: z.string() })).default([]),
  panels: z.array(panel),
  templating: z
    .object({
      list: z.array(z.looseObject({ name: z.string(), allValue: z.string().optional() })),
    })
    .default({ list: [] }),
  annotations: z
    .object({ list: z.array(z.looseObject({ name: z.string(), expr: z.string() })).default([]) })
    .default({ list: [] }),
});
const answer = z.object({ status: z.literal('success'), data: z.object({ result: z.unknown() }) });
const folder = new URL('../../../deploy/grafana/dashboards/', import.meta.url);

/** A period of a graph, s since the Unix epoch, and the distance of its points, s. */
export interface Period {
  readonly start: number;
  readonly end: number;
  readonly step: number;
}

/** What is chosen on the dashboards. */
const CHOSEN: Readonly<Record<string, string>> = { environment: 'production', route: 'charges' };
/** Four scrapes of a second, and some. */
const RATE_INTERVAL = '12s';

/** Each dashboard of these uids with what Prometheus answers to the queries of its panels and marks. */
export async function dashboardsWithAnswers(
  prometheusUrl: string,
  { start, end, step }: Period,
  uids: readonly string[],
) {
  const ask = async (query: string): Promise<unknown> => {
    const parameters = { query, start: `${start}`, end: `${end}`, step: `${step}` };
    const search = new URLSearchParams(parameters).toString();
    const response = await fetch(`${prometheusUrl}/api/v1/query_range?${search}`);
    return answer.parse(await response.json()).data.result;
  };
  const all = readdirSync(folder)
    .map((name) => dashboard.parse(JSON.parse(readFileSync(new URL(name, folder), 'utf8'))))
    .filter(({ uid }) => uids.includes(uid));
  return Promise.all(
    all.map(async ({ panels, annotations, templating, ...board }) => {
      const values = new Map(
        templating.list.map(({ name, allValue }) => [name, allValue ?? CHOSEN[name] ?? '']),
      );
      const filled = (expr: string) =>
        expr
          .replaceAll('$__rate_interval', RATE_INTERVAL)
          .replaceAll('$__interval', `${step}s`)
          .replaceAll('$__range', `${end - start}s`)
          .replaceAll(/\$(\w+)/g, (_text, name: string) => values.get(name) ?? '');
      return {
        ...board,
        variables: templating.list.map((one) => ({ ...one, chosen: values.get(one.name) })),
        panels: await Promise.all(
          panels.map(async (one) => ({
            panel: one,
            answers: await Promise.all(
              one.targets.map(async ({ expr, legendFormat }) => ({
                legend: legendFormat,
                result: await ask(filled(expr)),
              })),
            ),
          })),
        ),
        annotations: await Promise.all(
          annotations.list.map(async ({ name, expr }) => ({
            name,
            result: await ask(filled(expr)),
          })),
        ),
      };
    }),
  );
}
