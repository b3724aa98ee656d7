/**
 * The dashboards of `deploy/grafana` that pages of the console lead to, with the variables of each that a link sets. A test
 * beside the dashboards compares the two.
 */
export const LINKED_DASHBOARDS = {
  traffic: { uid: 'gateway-traffic', variables: { environment: 'environment' } },
  route: { uid: 'gateway-route', variables: { environment: 'environment', route: 'route' } },
  canary: { uid: 'gateway-canary', variables: { environment: 'environment', route: 'route' } },
  service: { uid: 'gateway-upstreams', variables: { service: 'service' } },
  configuration: { uid: 'gateway-configuration', variables: {} },
  processes: { uid: 'gateway-processes', variables: {} },
} as const;

export type LinkedDashboard = keyof typeof LINKED_DASHBOARDS;

/** The template of links to a dashboard of the Grafana at this address, at the time of what links to it. */
export function dashboardTemplate(grafanaUrl: string, name: LinkedDashboard): string {
  const { uid, variables } = LINKED_DASHBOARDS[name];
  const query = Object.entries(variables).map(([name, value]) => `var-${name}={${value}}`);
  return `${grafanaUrl}/d/${uid}?${[...query, 'from={from_ms}', 'to={to_ms}'].join('&')}`;
}
