import { Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useFollowEnvironment } from '../../api/follow-environment.ts';
import { LoadError } from '../../ui/load-error.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Page } from '../../ui/page.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { explainSearch } from './explain/explain-search.ts';
import { HistoryTab } from './history/history-tab.tsx';
import { OverviewTab } from './overview/overview-tab.tsx';
import { PoliciesTab } from './policies/policies-tab.tsx';
import { RouteActions } from './route-actions.tsx';
import { RouteHeading } from './route-heading.tsx';
import { ROUTE_TABS, type RoutePageSearch } from './route-page-search.ts';
import { HeadingSkeleton, RouteSkeleton } from './route-skeleton.tsx';
import { VersionsTab } from './versions/versions-tab.tsx';
import { routeQuery } from './route-query.ts';
import classes from './route-page.module.css';

const page = getRouteApi('/app/routes/$routeId');

/** Few visits need it. */
const ExplainPanel = lazyPart(
  'explain',
  async () => (await import('./explain/explain-panel.tsx')).ExplainPanel,
  () => <Loading />,
);

/** One route: its traffic, what it does with requests, its versions and its changes. */
export function RoutePage() {
  const { routeId } = page.useParams();
  const { tab = 'overview', ...search } = page.useSearch();
  const navigate = page.useNavigate();
  const { data, error, refetch } = useQuery(routeQuery(routeId));
  useFollowEnvironment(data?.route.environment);
  if (data === undefined) {
    return (
      <Page title="Route" {...(error === null && { heading: <HeadingSkeleton /> })}>
        {error === null ? (
          <RouteSkeleton />
        ) : (
          <LoadError error={error} onRetry={() => void refetch()} />
        )}
      </Page>
    );
  }
  const { route, etag } = data;
  const show = (chosen: string | null): void =>
    void navigate({
      search: ({ environment, ...others }) => searchOf(environment, others, chosen),
    });
  return (
    <Page
      title={route.name}
      state={<StatusBadge status={route.status} />}
      actions={<RouteActions route={route} etag={etag} />}
    >
      {error !== null && <LoadError error={error} onRetry={() => void refetch()} />}
      <RouteHeading route={route} />
      <Tabs value={tab} onChange={show} keepMounted={false}>
        <Tabs.List mb="md" className={classes.tabs ?? ''}>
          <Tabs.Tab value="overview">Overview</Tabs.Tab>
          <Tabs.Tab value="policies">Policies</Tabs.Tab>
          <Tabs.Tab value="versions">Versions</Tabs.Tab>
          <Tabs.Tab value="history">History</Tabs.Tab>
          <Tabs.Tab value="explain">Explain</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="overview">
          <OverviewTab route={route} />
        </Tabs.Panel>
        <Tabs.Panel value="policies">
          <PoliciesTab route={route} />
        </Tabs.Panel>
        <Tabs.Panel value="versions">
          <VersionsTab route={route} etag={etag} />
        </Tabs.Panel>
        <Tabs.Panel value="history">
          <HistoryTab route={route} />
        </Tabs.Panel>
        <Tabs.Panel value="explain">
          <ExplainPanel
            route={route}
            asked={explainSearch(search)}
            onAsk={(asked) =>
              void navigate({
                search: ({ environment, ...others }) => ({
                  ...searchOf(environment, others, 'explain'),
                  ...asked,
                }),
                replace: true,
              })
            }
          />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

/** The period stays for all tabs; the rest belongs to one of them. */
function searchOf(
  environment: string | undefined,
  { period }: RoutePageSearch,
  chosen: string | null,
) {
  const tab = ROUTE_TABS.find((one) => one === chosen);
  return {
    ...(environment === undefined ? {} : { environment }),
    ...(period === undefined ? {} : { period }),
    ...(tab === undefined ? {} : { tab }),
  };
}
