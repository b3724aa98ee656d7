import { Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useFollowEnvironment } from '../../api/follow-environment.ts';
import { LoadError } from '../../ui/load-error.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Page } from '../../ui/page.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { explainSearch } from './explain/explain-search.ts';
import { PoliciesPanel } from './policies-panel.tsx';
import { RouteActions } from './route-actions.tsx';
import { RouteSummary } from './route-summary.tsx';
import { SplitPanel } from './split/split-panel.tsx';
import { routeQuery } from './route-query.ts';

const page = getRouteApi('/app/routes/$routeId');

/** Few visits need it. */
const ExplainPanel = lazyPart(
  'explain',
  async () => (await import('./explain/explain-panel.tsx')).ExplainPanel,
  () => <Loading />,
);

/** One route: what it is, its traffic and its policies. */
export function RoutePage() {
  const { routeId } = page.useParams();
  const { tab = 'policies', ...search } = page.useSearch();
  const navigate = page.useNavigate();
  const { data, error, refetch } = useQuery(routeQuery(routeId));
  useFollowEnvironment(data?.route.environment);
  if (data === undefined) {
    return (
      <Page title="Route" actions={<TextLink to="/routes">All routes</TextLink>}>
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
      <Tabs
        value={tab}
        onChange={(chosen) =>
          void navigate({ search: ({ environment }) => searchOf(environment, chosen) })
        }
        keepMounted={false}
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="policies">Policies</Tabs.Tab>
          <Tabs.Tab value="explain">Explain</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="policies">
          <PoliciesPanel route={route} />
        </Tabs.Panel>
        <Tabs.Panel value="explain">
          <ExplainPanel
            route={route}
            asked={explainSearch(search)}
            onAsk={(asked) =>
              void navigate({
                search: ({ environment }) => ({ ...searchOf(environment, 'explain'), ...asked }),
                replace: true,
              })
            }
          />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

function searchOf(environment: string | undefined, tab: string | null) {
  return {
    ...(environment === undefined ? {} : { environment }),
    ...(tab === 'explain' ? { tab: 'explain' as const } : {}),
  };
}
