import { fillLink, type LinkValues } from '@gateway/shared/links/link-template';
import type { Links, RequestRecord } from '../api/client.ts';

/** A link to another tool. */
export interface LinkTarget {
  /** What it leads to. */
  readonly label: string;
  readonly href: string;
}

type LinkName = 'trace' | 'logs' | keyof Links['dashboards'];

const LABELS: Readonly<Record<LinkName, string>> = {
  trace: 'Trace',
  logs: 'Logs',
  traffic: 'Traffic in Grafana',
  route: 'Route in Grafana',
  canary: 'Versions in Grafana',
  service: 'Service in Grafana',
  configuration: 'Configuration in Grafana',
  processes: 'Processes in Grafana',
};
/** Before and after a request, so that its lines and its place in a graph are in the period. */
const MARGIN_MS = 5 * 60_000;
const HOUR_MS = 3_600_000;

/** Those of the links for which everything is known: the setting, and the values. */
export function linkTargets(
  links: Links | undefined,
  names: readonly LinkName[],
  values: LinkValues,
): LinkTarget[] {
  if (links === undefined) return [];
  return names.flatMap((name) => {
    const template = name === 'trace' || name === 'logs' ? links[name] : links.dashboards[name];
    const href = template === null ? undefined : fillLink(template, values);
    return href === undefined ? [] : [{ label: LABELS[name], href }];
  });
}

/** The trace, the log lines and the dashboards of a request, in this order. */
export function linksOfRequest(links: Links | undefined, record: RequestRecord): LinkTarget[] {
  const names = ['trace', 'logs', 'route', ...(record.route_version === null ? [] : ['canary'])];
  return linkTargets(links, names as LinkName[], {
    trace_id: record.trace_id,
    request_id: record.id,
    environment: record.environment,
    route: record.route,
    version: record.route_version,
    token_id: record.token_id,
    ...around(Date.parse(record.received_at), record.timing.total_ms),
  });
}

/** The period around something that took place then. */
function around(atMs: number, durationMs: number): LinkValues {
  return { from_ms: atMs - MARGIN_MS, to_ms: Math.ceil(atMs + durationMs) + MARGIN_MS };
}

/** The hour before now. */
export function lastHour(nowMs: number): LinkValues {
  return { from_ms: nowMs - HOUR_MS, to_ms: nowMs };
}
