import { Alert, Box, Code, List, Paper, Skeleton, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { LoadError } from '../../ui/load-error.tsx';
import { LongText } from '../../ui/long-text.tsx';
import { useNow } from '../../ui/now.ts';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { localTime } from '../../ui/time-text.ts';
import { stateText } from '../services/health-reason.ts';
import { serviceHealthQuery } from '../services/services-query.ts';
import { healthMatrix, type HealthMatrix } from './health-matrix.ts';
import { healthProblems, type HealthProblem } from './health-problems.ts';
import classes from './service.module.css';

/** More would hide the rest of the page; the table shows the others. */
const MAX_PROBLEMS = 10;

/** The upstreams of a service by the data planes that check them, and what is wrong, in words. */
export function HealthPanel({ serviceId }: { readonly serviceId: string }) {
  const query = { ...serviceHealthQuery(serviceId), refetchInterval: 2000 };
  const { data, error, refetch } = useQuery(query);
  return (
    <Paper withBorder component="section" aria-labelledby="health">
      <div className={classes.head}>
        <h2 id="health">Health</h2>
      </div>
      {error !== null && <LoadError error={error} onRetry={() => void refetch()} />}
      {data === undefined ? (
        error === null && <HealthSkeleton />
      ) : (
        <Matrix matrix={healthMatrix(data)} overloadedOn={data.overloaded_on} />
      )}
    </Paper>
  );
}

/** Lines where the upstreams will stand. */
export function HealthSkeleton() {
  return (
    <div className={classes.loading} role="status" aria-label="Loading">
      <Skeleton height={12} width="30%" />
      <Skeleton height={12} width="42%" />
      <Skeleton height={12} width="38%" />
    </div>
  );
}

function Matrix({
  matrix,
  overloadedOn,
}: {
  readonly matrix: HealthMatrix;
  readonly overloadedOn: readonly string[];
}) {
  const { planes, rows } = matrix;
  const problems = healthProblems(matrix);
  const hasHealthy = rows.some(({ upstream }) => upstream.status === 'healthy');
  return (
    <>
      {planes.length === 0 && (
        <Text size="sm" c="dimmed" px="sm">
          No data plane has reported on this service yet.
        </Text>
      )}
      {overloadedOn.length > 0 && (
        <Alert color="yellow" mx="sm" mb="sm" role="status">
          Requests are refused because the service is at one of its limits. Reported by{' '}
          {planesText(overloadedOn)}.
        </Alert>
      )}
      {problems.length > 0 && (
        <Alert color={toneOf(problems, hasHealthy)} mx="sm" mb="sm" role="status">
          <List size="sm" listStyleType={problems.length > 1 ? 'disc' : 'none'}>
            {problems.slice(0, MAX_PROBLEMS).map((problem) => (
              <Problem key={`${problem.url} ${problem.status} ${problem.reason}`} {...problem} />
            ))}
          </List>
          {problems.length > MAX_PROBLEMS && `… and ${problems.length - MAX_PROBLEMS} more`}
        </Alert>
      )}
      <Box className={classes.scroll} role="region" aria-label="Health by data plane" tabIndex={0}>
        <Table verticalSpacing="xs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Upstream</Table.Th>
              <Table.Th>Overall</Table.Th>
              {/* On a phone the notice above names those that report something. */}
              {planes.map(({ id, region }) => (
                <Table.Th key={id} visibleFrom="sm">
                  {id} <span className={classes.region}>{region}</span>
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map(({ upstream, seen }) => (
              <Table.Tr key={upstream.id}>
                <Table.Th scope="row">
                  <LongText text={upstream.url} what="URL" />
                  {upstream.region !== null && (
                    <span className={classes.region}> {upstream.region}</span>
                  )}
                </Table.Th>
                <Table.Td>
                  <StatusBadge status={upstream.status} />
                </Table.Td>
                {seen.map((one, index) => (
                  <Table.Td key={planes[index]?.id} visibleFrom="sm">
                    {one === undefined ? '–' : <StatusBadge status={one.status} />}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Box>
    </>
  );
}

/** An upstream that was not checked yet, such as that of a new service, is nothing that somebody must look at. */
function toneOf(problems: readonly HealthProblem[], hasHealthy: boolean): string {
  if (problems.every(({ status }) => status === 'unknown')) return 'gray';
  return hasHealthy ? 'yellow' : 'red';
}

/** How a state is said to have begun. */
const VERBS: Readonly<Record<HealthProblem['status'], string>> = {
  ejected: 'was',
  half_open: 'went',
  unhealthy: 'became',
  unknown: 'is',
  healthy: 'is',
};

function Problem({ url, status, meaning, reason, since, planes }: HealthProblem) {
  const nowMs = useNow();
  return (
    <List.Item>
      <Code>
        <LongText text={url} what="URL" />
      </Code>{' '}
      {since === null ? 'is' : VERBS[status]}{' '}
      <span title={since === null ? undefined : localTime(since)}>
        {stateText(status, since, reason, nowMs)}
      </span>
      .{meaning === null ? '' : ` ${meaning}`} Reported by {planesText(planes)}.
    </List.Item>
  );
}

const NAMED_PLANES = 3;

function planesText(ids: readonly string[]): string {
  const more = ids.length - NAMED_PLANES;
  const named = ids.slice(0, NAMED_PLANES).join(', ');
  return more > 0 ? `${named} and ${more} more` : named;
}
