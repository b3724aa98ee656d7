import { fillLink, type LinkValues } from '@gateway/shared/links/link-template';
import { valuesOfRequest } from '@gateway/shared/links/link-values';
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
  return linkTargets(links, names as LinkName[], valuesOfRequest(record));
}
