import { Text } from '@mantine/core';
import type { Service } from '../../api/client.ts';
import type { Column } from '../../ui/data-table.tsx';
import { msText } from '../../ui/ms-text.ts';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { visibleText } from '../../ui/visible-text.ts';
import { errorTone } from '../../ui/error-share.tsx';
import { NoValue } from '../../ui/no-value.tsx';
import { shareText } from '../../ui/share-text.ts';
import { HealthReason } from './health-reason.tsx';
import { RegionHealth } from './region-health.tsx';
import type { ServiceTraffic } from './services-query.ts';
import classes from './service-columns.module.css';

type TrafficById = ReadonlyMap<string, ServiceTraffic> | undefined;

/** The columns of the list. The traffic is that of the last hour; undefined: it is not known. */
export function serviceColumns(traffic: TrafficById): readonly Column<Service>[] {
  const of = (id: string) => traffic?.get(id);
  return [
    {
      key: 'name',
      header: 'Name',
      cell: ({ id, name }) => (
        <TextLink to="/services/$serviceId" params={{ serviceId: id }} inherit>
          {visibleText(name)}
        </TextLink>
      ),
    },
    {
      key: 'status',
      header: 'Status',
      cell: ({ id, status }) => (
        <span className={classes.status}>
          <StatusBadge status={status} />
          {(status === 'unhealthy' || status === 'degraded') && (
            <span className={classes.reason}>
              <HealthReason serviceId={id} status={status} />
            </span>
          )}
        </span>
      ),
    },
    {
      key: 'upstreams',
      header: 'Upstreams',
      visibleFrom: 'md',
      cell: ({ upstreams }) => <Upstreams upstreams={upstreams} />,
    },
    {
      key: 'regions',
      header: 'Healthy by region',
      visibleFrom: 'xl',
      cell: ({ id }) => <RegionHealth serviceId={id} />,
    },
    {
      key: 'requests',
      header: 'Requests, 1 h',
      align: 'right',
      visibleFrom: 'sm',
      cell: ({ id, upstreams }) => {
        const counted = of(id);
        if (counted === undefined) return <NoValue />;
        return (
          <RequestsTo upstreams={upstreams}>{counted.requests.toLocaleString('en')}</RequestsTo>
        );
      },
    },
    {
      key: 'errors',
      header: 'Errors',
      align: 'right',
      visibleFrom: 'sm',
      cell: ({ id, upstreams }) => {
        const counted = of(id);
        if (counted === undefined || counted.requests === 0) return <NoValue />;
        const { errors, requests } = counted;
        const share = errors / requests;
        return (
          <RequestsTo upstreams={upstreams} failed tone={errorTone(share)}>
            {shareText(share)}
          </RequestsTo>
        );
      },
    },
    {
      key: 'p95',
      header: 'p95',
      align: 'right',
      visibleFrom: 'sm',
      cell: ({ id }) => {
        const p95 = of(id)?.p95_ms;
        return p95 === undefined || p95 === null ? <NoValue /> : msText(p95);
      },
    },
  ];
}

interface RequestsToProps extends Pick<Service, 'upstreams'> {
  readonly failed?: true;
  readonly tone?: ReturnType<typeof errorTone>;
  readonly children: string;
}

/** A number that leads to the requests of the last hour, if the service has one upstream: the list is filtered by that. */
function RequestsTo({ upstreams, failed, tone = {}, children }: RequestsToProps) {
  const [first] = upstreams;
  if (first === undefined || upstreams.length > 1) {
    return (
      <Text span inherit {...tone}>
        {children}
      </Text>
    );
  }
  const search = { upstream: first.url, period: '1h', ...(failed && { failed }) } as const;
  return (
    <TextLink to="/requests" search={search} inherit {...tone}>
      {children}
    </TextLink>
  );
}

/** The first upstream, and how many more. */
function Upstreams({ upstreams }: Pick<Service, 'upstreams'>) {
  const [first] = upstreams;
  const more = upstreams.length - 1;
  return (
    <span className={classes.upstream} title={first?.url}>
      <code>{visibleText(first?.url ?? '')}</code>
      {more > 0 && <span className={classes.more}>+{more.toLocaleString('en')}</span>}
    </span>
  );
}
