import { Queries } from '../parts/query.ts';

/** The queries of this dashboard, filtered by its variables. */
export const q = new Queries(['instance']);
