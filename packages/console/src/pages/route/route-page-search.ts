import { explainSearch, type ExplainSearch } from './explain/explain-search.ts';
import { PERIODS, type PeriodName } from '../overview/periods.ts';

/** The tabs of the page of a route, beside the first one. */
export const ROUTE_TABS = ['policies', 'versions', 'history', 'explain'] as const;

type RouteTab = (typeof ROUTE_TABS)[number];

/** What the URL of the page holds; what is asked of explain only with its tab. */
export interface RoutePageSearch extends ExplainSearch {
  /** The open tab; absent: the overview. */
  readonly tab?: RouteTab;
  /** The period of the charts; absent: the last hour. */
  readonly period?: Exclude<PeriodName, '1h'>;
  /** Only the requests of the version of this name. */
  readonly version?: string;
  /** The id of the change that is open in the history. */
  readonly change?: string;
}

const MAX_TEXT = 64;

/** Reads it from a URL. What is wrong there is left out. */
export function routePageSearch(given: Record<string, unknown>): RoutePageSearch {
  const { tab, period, version, change } = given;
  const known = ROUTE_TABS.find((one) => one === tab);
  return {
    ...(known !== undefined && { tab: known }),
    ...(isPeriod(period) && period !== '1h' && { period }),
    ...(isText(version) && { version: String(version) }),
    ...(isText(change) && { change: String(change) }),
    ...(tab === 'explain' && explainSearch(given)),
  };
}

function isPeriod(value: unknown): value is PeriodName {
  return typeof value === 'string' && Object.hasOwn(PERIODS, value);
}

/** The router reads a name of digits as a number. */
function isText(value: unknown): value is string | number {
  return (
    typeof value === 'number' ||
    (typeof value === 'string' && value !== '' && value.length <= MAX_TEXT)
  );
}
