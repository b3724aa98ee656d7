import { Empty } from '../../ui/empty.tsx';
import { NextStep } from '../../ui/next-step.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { isFixed, PERIODS, USUAL_PERIOD } from './periods.ts';
import {
  hasFilters,
  requestsSearch,
  withRequestFilters,
  type RequestsSearch,
} from './requests-search.ts';

interface NoRequestsProps {
  readonly environment: string;
  readonly search: RequestsSearch;
}

/** In place of the list: nothing was found, or nothing has happened yet. */
export function NoRequests({ environment, search }: NoRequestsProps) {
  const isWhole = !isFixed(search) && search.period === '30d';
  if (isWhole && !hasFilters(search)) {
    return (
      <Empty title={`No requests in ${environment} in the last 30 days`}>
        A request to /v1/proxy/NAME appears here within two seconds after its response.{' '}
        <NextStep scope="routes:read" to="/routes">
          Show the routes
        </NextStep>
      </Empty>
    );
  }
  return (
    <Empty title={`No request ${hasFilters(search) ? 'matches ' : ''}${whenText(search)}`}>
      {!isWhole && (
        <TextLink
          to="/requests"
          search={(now) => withRequestFilters(requestsSearch(now), { period: '30d' })}
          size="sm"
        >
          Search the last 30 days
        </TextLink>
      )}
      {!isWhole && hasFilters(search) && ', or '}
      {hasFilters(search) && (
        <TextLink to="/requests" search={{}} size="sm">
          {isWhole ? 'Show' : 'show'} all requests of {environment}
        </TextLink>
      )}
    </Empty>
  );
}

function whenText(search: RequestsSearch): string {
  if (isFixed(search)) return 'in this period';
  return `in the last ${PERIODS[search.period ?? USUAL_PERIOD].label}`;
}
