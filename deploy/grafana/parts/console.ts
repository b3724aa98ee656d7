import * as dashboard from '@grafana/grafana-foundation-sdk/dashboard';
import type { SeriesLink } from './link.ts';
import { DATA_SOURCE } from './panel.ts';
import { Queries } from './query.ts';

/** Has the addresses of the console and of Grafana as labels; see docs/run/links.md. */
const LINKS_INFO = 'gateway_control_plane_links_info';
const PERIOD = 'since=${__from:date:iso}&until=${__to:date:iso}';
const ROUTE_OF_SERIES = 'environment=${__field.labels.environment}&route=${__field.labels.route}';

/** The variable with the address of the console, which `CONSOLE_URL` of the control plane sets. Nobody has to see it. */
export function consoleVariable(): dashboard.QueryVariableBuilder {
  return new dashboard.QueryVariableBuilder('console')
    .label('Console')
    .datasource(DATA_SOURCE)
    .query(new Queries([]).labelValues(LINKS_INFO, 'console_url'))
    .refresh(dashboard.VariableRefresh.OnTimeRangeChanged)
    .hide(dashboard.VariableHide.HideVariable);
}

/** A page of the console, such as `/requests`. */
export function consolePage(title: string, page: string): SeriesLink {
  return { title, url: `\${console}${page}` };
}

/** From a series with an environment and a route: that route, on its dashboard and in the console. */
export const LINKS_OF_ROUTE: readonly SeriesLink[] = [
  {
    title: 'This route',
    url: `/d/gateway-route?var-environment=\${__field.labels.environment}&var-route=\${__field.labels.route}&\${__url_time_range}`,
  },
  consolePage('Its requests in the console', `/requests?${ROUTE_OF_SERIES}&${PERIOD}`),
];

/**
 * From a series with this label, on a dashboard with the variables `environment` and `route`: the requests that it counts.
 *
 * @param filter the name of the filter in the console
 */
export function requestsWith(label: string, filter: string): SeriesLink {
  return consolePage(
    'These requests in the console',
    `/requests?environment=\${environment}&route=\${route}&${filter}=\${__field.labels.${label}}&${PERIOD}`,
  );
}

/** The requests of the route that the dashboard shows. */
export const REQUESTS_OF_ROUTE = consolePage(
  'Requests in the console',
  `/requests?environment=\${environment}&route=\${route}&${PERIOD}`,
);
