import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import * as dashboard from '@grafana/grafana-foundation-sdk/dashboard';
import { alertRule } from './alert.ts';
import { runbookAt, runbookUrl } from './runbook.ts';

type Link = Builder<dashboard.DashboardLink>;

/** A link from a series, or from a dashboard. */
export interface SeriesLink {
  readonly title: string;
  readonly url: string;
}

/** On every dashboard of the gateway. Each of them lists the dashboards with this tag. */
export const TAG = 'gateway';

export function linkTo(title: string, url: string): Link {
  return visible(
    new dashboard.DashboardLinkBuilder(title).type(dashboard.DashboardLinkType.Link).url(url),
  );
}

/** A link to the runbook of each of these alerts. */
export function runbookLinks(alerts: readonly string[]): Link[] {
  const pages = new Set(alerts.map((name) => runbookAt(alertRule(name).annotations.runbook)));
  return [...pages].map((page) => linkTo(`Runbook: ${page.title}`, runbookUrl(page)));
}

/** The list of all dashboards of the gateway, which keeps the variables and the time. */
export function otherDashboards(): Link {
  return visible(
    new dashboard.DashboardLinkBuilder('Gateway')
      .type(dashboard.DashboardLinkType.Dashboards)
      .tags([TAG])
      .asDropdown(true)
      .keepTime(true)
      .includeVars(true),
  );
}

/** The builder of the SDK puts every link into a menu, and has no way to leave that out. */
function visible(builder: dashboard.DashboardLinkBuilder): Link {
  return {
    build() {
      const { placement: _menu, ...link } = builder.build();
      return link;
    },
  };
}
