import { Box, Group, Text } from '@mantine/core';
import type { CallerStatistics } from '../../api/client.ts';
import type { Column } from '../../ui/data-table.tsx';
import { msText } from '../../ui/ms-text.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { ErrorShare } from '../../ui/error-share.tsx';
import { visibleText } from '../../ui/visible-text.ts';
import { ORDERS } from './callers-search.ts';
import classes from './callers.module.css';
import { quotaTone, usedText } from './quota-use.ts';

type Caller = CallerStatistics['callers'][number];

/** Identifies a caller in the list. */
export function callerKey({ token_id, subject }: Caller): string {
  return `${token_id ?? ''} ${subject ?? ''}`;
}

/** The columns of the list of callers. */
export function callerColumns(
  nameOf: (tokenId: string) => string,
  route: string | undefined,
): readonly Column<Caller>[] {
  const only = route === undefined ? {} : { route };
  return [
    {
      key: 'caller',
      header: 'Caller',
      cell: ({ token_id: token, subject }) => {
        if (token !== null) {
          return (
            <TextLink to="/requests" search={{ token, ...only }} inherit title={token}>
              {nameOf(token)}
            </TextLink>
          );
        }
        return subject === null ? <Dimmed>without credentials</Dimmed> : visibleText(subject);
      },
    },
    {
      key: 'requests',
      header: ORDERS.requests,
      order: 'requests',
      isLargestFirst: true,
      align: 'right',
      cell: ({ requests }) => requests.toLocaleString('en'),
    },
    {
      key: 'errors',
      header: ORDERS.errors,
      order: 'errors',
      isLargestFirst: true,
      align: 'right',
      cell: ({ errors, token_id: token }) =>
        errors === 0 || token === null ? (
          errors.toLocaleString('en')
        ) : (
          <TextLink to="/requests" search={{ token, status: '5xx', ...only }} inherit>
            {errors.toLocaleString('en')}
          </TextLink>
        ),
    },
    {
      key: 'share',
      header: 'Error rate',
      align: 'right',
      visibleFrom: 'md',
      cell: ({ errors, requests }) => <ErrorShare errors={errors} requests={requests} />,
    },
    {
      key: 'refused',
      header: ORDERS.rate_limited,
      order: 'rate_limited',
      isLargestFirst: true,
      align: 'right',
      visibleFrom: 'sm',
      cell: ({ rate_limited: refused, token_id: token }) =>
        refused === 0 || token === null ? (
          refused.toLocaleString('en')
        ) : (
          <TextLink
            to="/requests"
            search={{ token, error: 'rate_limit_exceeded', ...only }}
            inherit
          >
            {refused.toLocaleString('en')}
          </TextLink>
        ),
    },
    {
      key: 'p95',
      header: 'p95',
      align: 'right',
      visibleFrom: 'md',
      cell: (one) => msText(one.p95_ms),
    },
    {
      key: 'quota',
      header: ORDERS.quota_used,
      order: 'quota_used',
      isLargestFirst: true,
      cell: ({ quota }) => <QuotaUse quota={quota} />,
    },
    {
      key: 'last',
      header: 'Last request',
      visibleFrom: 'lg',
      cell: ({ last_at }) => <RelativeTime at={last_at} />,
    },
  ];
}

function QuotaUse({ quota }: Pick<Caller, 'quota'>) {
  if (quota === null) return <Dimmed>none</Dimmed>;
  const { used, route, limit, remaining } = quota;
  const left = `${remaining.toLocaleString('en')} of ${limit.toLocaleString('en')} left on ${route}`;
  return (
    <Group className={classes.quota ?? ''} gap="xs" wrap="nowrap" title={left}>
      <Box className={classes.track ?? ''} visibleFrom="sm" aria-hidden>
        <div
          className={classes.used}
          data-tone={quotaTone(used)}
          style={{ width: `${Math.min(1, used) * 100}%` }}
        />
      </Box>
      <Text span inherit className={classes.share ?? ''} data-tone={quotaTone(used)}>
        {usedText(used)}
      </Text>
      <Text span inherit c="dimmed" visibleFrom="xl">
        {left}
      </Text>
    </Group>
  );
}

function Dimmed({ children }: { readonly children: string }) {
  return (
    <Text span inherit c="dimmed">
      {children}
    </Text>
  );
}
