import * as dashboard from '@grafana/grafana-foundation-sdk/dashboard';

// Grafana 11 and older read only this format, and newer ones read it too. docs/adr/0041-grafana-dashboards.md has the reasons.
// oxlint-disable-next-line typescript/no-deprecated
export type Dashboard = dashboard.Dashboard;

export function newDashboard(title: string) {
  // oxlint-disable-next-line typescript/no-deprecated
  return new dashboard.DashboardBuilder(title);
}
