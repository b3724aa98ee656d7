import * as units from '@grafana/grafana-foundation-sdk/units';
import { graph, type PanelBuilder } from './panel.ts';
import type { Queries } from './query.ts';

const WINDOWS = ['5m', '1h', '6h', '3d'];
const ALERTS = {
  error: ['GatewayErrorBudgetBurnsFast', 'GatewayErrorBudgetBurns'],
  latency: ['GatewayLatencyBudgetBurnsFast', 'GatewayLatencyBudgetBurns'],
} as const;

/** How fast routes use up their budget, over some of the windows of the alerts. */
export function burnGraph(
  q: Queries,
  kind: keyof typeof ALERTS,
  texts: { readonly title: string; readonly description: string },
): PanelBuilder {
  return graph({
    ...texts,
    unit: units.Short,
    queries: WINDOWS.map((window) =>
      q.gauge('max', `gateway:route_${kind}_burn:${window}`, { legend: `over ${window}` }),
    ),
    alerts: ALERTS[kind],
  });
}

/** The burn rate of each route over one hour. */
export function burnByRoute(q: Queries, kind: keyof typeof ALERTS) {
  return q.gauge('max', `gateway:route_${kind}_burn:1h`, { by: ['environment', 'route'] });
}
