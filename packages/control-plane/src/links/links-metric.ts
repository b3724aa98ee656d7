import { Gauge, type Registry } from 'prom-client';
import type { LinkSettings } from './links.ts';

/**
 * Registers the metric by which dashboards and alerts find the console and Grafana. It has no series if neither address is
 * known.
 */
export function observeLinks(registry: Registry, settings: LinkSettings): void {
  const { CONSOLE_URL = '', GRAFANA_URL = '' } = settings;
  const info = new Gauge({
    name: 'gateway_control_plane_links_info',
    help: '1, with the addresses of the console and of Grafana, if the settings name one',
    labelNames: ['console_url', 'grafana_url'],
    registers: [registry],
  });
  if (CONSOLE_URL !== '' || GRAFANA_URL !== '') {
    info.set({ console_url: CONSOLE_URL, grafana_url: GRAFANA_URL }, 1);
  }
}
