import { TextLink } from '../../ui/text-link.tsx';
import { Empty } from '../../ui/empty.tsx';
import type { RoutesSearch } from './routes-search.ts';

interface NoRoutesProps {
  readonly environment: string;
  readonly filters: RoutesSearch;
}

/** In place of the list: nothing was found, or there is nothing yet. */
export function NoRoutes({ environment, filters }: NoRoutesProps) {
  if (Object.values(filters).every((value) => value === undefined)) {
    return (
      <Empty title={`No routes in ${environment}`}>
        A route decides what happens to requests to /v1/proxy/NAME, and which service gets them.
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
