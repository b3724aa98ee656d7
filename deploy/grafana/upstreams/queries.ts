import { Queries } from '../parts/query.ts';

/** The queries of this dashboard, filtered by its variables. */
export const q = new Queries(['service', 'instance']);

export const ATTEMPTS = 'gateway_upstream_attempts_total';
