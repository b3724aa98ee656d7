import { Empty } from '../../ui/empty.tsx';
import { NextStep } from '../../ui/next-step.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { hasFilters, type RoutesSearch } from './routes-search.ts';

interface NoRoutesProps {
  readonly environment: string;
  readonly filters: RoutesSearch;
}

/** In place of the list: nothing was found, or there is nothing yet. */
export function NoRoutes({ environment, filters }: NoRoutesProps) {
  if (!hasFilters(filters)) {
    return (
      <Empty title={`No routes in ${environment}`}>
        A route decides what happens to requests to /v1/proxy/NAME, and which service gets them.{' '}
        <NextStep scope="routes:write" to="/routes/new">
          Create the first route
        </NextStep>
      </Empty>
    );
  }
  return (
    <Empty title="No route matches">
      <TextLink to="/routes" size="sm">
        Show all routes of {environment}
      </TextLink>
    </Empty>
  );
}
