import type { Route } from '../../api/client.ts';

/** The ids of the services that a route sends requests and copies to. */
export function servicesOf({
  service_id: service,
  versions,
  mirror,
}: Pick<Route, 'service_id' | 'versions' | 'mirror'>): readonly string[] {
  const ids = [service, ...(versions ?? []).map((one) => one.service_id), mirror?.service_id];
  return ids.filter((id) => typeof id === 'string');
}
