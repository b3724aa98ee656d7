import { Group, SegmentedControl, Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEnvironment } from '../../api/environments.ts';
import { useRight } from '../../api/rights.ts';
import { useNamesOfTokens } from '../../api/token-names.ts';
import { LoadError } from '../../ui/load-error.tsx';
import { Page } from '../../ui/page.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { ScopedButton } from '../../ui/scoped-button.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { Differences } from './differences.tsx';
import { authorsText, summaryText } from './version-columns.tsx';
import { ROLL_BACK_RIGHT } from './roll-back-right.ts';
import { currentVersionQuery, versionQuery } from './versions-query.ts';

const route = getRouteApi('/app/configuration/$version');

/** One version: when and by whom it was made, and what it changed. */
export function VersionPage() {
  const version = Number(route.useParams().version);
  const { against } = route.useSearch();
  const navigate = route.useNavigate();
  const environment = useEnvironment();
  const { data, error, refetch } = useQuery(versionQuery(environment, version));
  const nameOf = useNamesOfTokens(data?.changed_by ?? []);
  const { data: current } = useQuery(currentVersionQuery(environment));
  const seesAll = useRight({ scope: [], allRoutes: true }).allowed;
  const isFormer = data?.former === true;
  const isCurrent = current === version && !isFormer;
  const { data: before, isPending: awaitsBefore } = useQuery({
    ...versionQuery(environment, version - 1),
    enabled: version > 1,
  });
  return (
    <Page
      title={`Version ${route.useParams().version}`}
      state={isCurrent && <StatusBadge status="current" />}
      actions={
        data !== undefined &&
        current !== undefined &&
        !isCurrent &&
        !isFormer && (
          <ScopedButton
            {...ROLL_BACK_RIGHT}
            variant="default"
            onClick={() =>
              void navigate({
                to: '/configuration/$version/roll-back',
                params: { version: String(version) },
              })
            }
          >
            Roll back to this version
          </ScopedButton>
        )
      }
    >
      {error !== null && <LoadError error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton height={120} />}
      {data !== undefined && (
        <>
          <Group justify="space-between" gap="xs">
            <Text c="dimmed">
              {summaryText(data, seesAll)}, by {authorsText(data.changed_by, nameOf)},{' '}
              <RelativeTime at={data.published_at} />
              {isFormer && '. It is of a deleted environment that had this name before.'}
            </Text>
            <SegmentedControl
              aria-label="Compare"
              value={against ?? 'previous'}
              onChange={(value) =>
                void navigate({
                  search: ({ environment: kept }) => ({
                    ...(kept !== undefined && { environment: kept }),
                    ...(value === 'current' && { against: 'current' as const }),
                  }),
                })
              }
              data={[
                { value: 'previous', label: 'What it changed' },
                { value: 'current', label: 'What changed since' },
              ]}
            />
          </Group>
          {against === 'current' ? (
            current !== undefined && (
              <Differences environment={environment} from={version} to={current} />
            )
          ) : before?.former === data.former ? (
            <Differences environment={environment} from={version - 1} to={version} canRevert />
          ) : version > 1 && awaitsBefore ? (
            <Skeleton height={120} />
          ) : (
            <Text size="sm" c="dimmed">
              It is the first version that is stored.
            </Text>
          )}
        </>
      )}
    </Page>
  );
}
