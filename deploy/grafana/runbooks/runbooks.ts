import { PanelBuilder, TextMode } from '@grafana/grafana-foundation-sdk/text';
import { newDashboard } from '../parts/classic.ts';
import { otherDashboards, TAG } from '../parts/link.ts';
import { allRunbooks, RUNBOOKS_UID } from '../parts/runbook.ts';

/** docs/run/runbooks.md as a dashboard: a panel for each section, to which the panels of the other dashboards link. */
export function runbooks() {
  const builder = newDashboard('Gateway: runbooks')
    .uid(RUNBOOKS_UID)
    .description('docs/run/runbooks.md: what each alert means, and what to do.')
    .tags([TAG])
    .annotations([])
    .variables([])
    .link(otherDashboards());
  for (const { id, title, text } of allRunbooks()) {
    const panel = new PanelBuilder().id(id).title(title).span(24).height(9);
    builder.withPanel(panel.mode(TextMode.Markdown).content(text));
  }
  return builder.build();
}
