import { Empty } from '../../ui/empty.tsx';
import { NextStep } from '../../ui/next-step.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { hasFilters, type RequestsSearch } from './requests-search.ts';

interface NoRequestsProps {
  readonly environment: string;
  readonly search: RequestsSearch;
}

/** In place of the list: nothing was found, or nothing has happened yet. */
export function NoRequests({ environment, search }: NoRequestsProps) {
  if (hasFilters(search)) {
    return (
      <Empty title="No request matches">
        <TextLink to="/requests" size="sm">
          Show all requests of {environment}
        </TextLink>
      </Empty>
    );
  }
  return (
    <Empty title={`No requests in ${environment} in the last 30 days`}>
      A request to /v1/proxy/NAME appears here within two seconds after its response.{' '}
      <NextStep scope="routes:read" to="/routes">
        Show the routes
      </NextStep>
    </Empty>
  );
}
