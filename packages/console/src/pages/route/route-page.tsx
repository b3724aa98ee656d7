import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { LoadError } from '../../ui/load-error.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Page } from '../../ui/page.tsx';
import { PoliciesPanel } from './policies-panel.tsx';
import { RouteActions } from './route-actions.tsx';
import { RouteSummary } from './route-summary.tsx';
import { SplitPanel } from './split/split-panel.tsx';
import { routeQuery } from './route-query.ts';

const page = getRouteApi('/app/routes/$routeId');

/** One route: what it is, its traffic and its policies. */
export function RoutePage() {
  const { routeId } = page.useParams();
  const { data, error, refetch } = useQuery(routeQuery(routeId));
  if (data === undefined) {
    return (
      <Page title="Route">
        {error === null ? <Loading /> : <LoadError error={error} onRetry={() => void refetch()} />}
      </Page>
    );
  }
  const { route } = data;
  return (
    <Page title={route.name} actions={<RouteActions route={route} etag={data.etag} />}>
      {error !== null && <LoadError error={error} onRetry={() => void refetch()} />}
      <RouteSummary route={route} />
      {route.versions !== null && <SplitPanel route={route} etag={data.etag} />}
      <PoliciesPanel route={route} />
    </Page>
  );
}
