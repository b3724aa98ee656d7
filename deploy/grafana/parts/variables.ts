import type { Variable } from './frame.ts';
import { SERVICE_INFO } from './metrics.ts';

export const DATA_PLANES: Variable = {
  name: 'instance',
  label: 'Data plane',
  of: 'gateway_requests_in_flight',
};

export const PROCESSES: Variable = {
  name: 'instance',
  label: 'Process',
  of: 'gateway_event_loop_delay_seconds',
};

export const ENVIRONMENTS: Variable = {
  name: 'environment',
  label: 'Environment',
  of: 'gateway_requests_total',
};

export const ROUTE: Variable = {
  name: 'route',
  label: 'Route',
  of: 'gateway_requests_total',
  within: ['environment'],
  single: true,
};

export const ROUTE_WITH_VERSIONS: Variable = {
  ...ROUTE,
  where: ['version!=""'],
};

export const SERVICES: Variable = {
  name: 'service',
  label: 'Service',
  of: SERVICE_INFO,
  labelled: 'name',
};
