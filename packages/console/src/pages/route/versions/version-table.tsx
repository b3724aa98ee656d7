import { Group, Paper, SegmentedControl, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Route, Statistics } from '../../../api/client.ts';
import { useScope } from '../../../api/rights.ts';
import { useNamesOfServices } from '../../../api/service-names.ts';
import { DataTable, type Column } from '../../../ui/data-table.tsx';
import { msText } from '../../../ui/ms-text.ts';
import { TextLink } from '../../../ui/text-link.tsx';
import { ErrorShare } from '../../../ui/error-share.tsx';
import { NoValue } from '../../../ui/no-value.tsx';
import { rateText } from '../../../ui/share-text.ts';
import { percentText, weightText } from '../../routes/weight-text.ts';
import { COMPARED_MINUTES, versionTrafficQuery, type ComparedMinutes } from './versions-query.ts';
import type { Versions } from './shares.ts';
import classes from './split-bar.module.css';

interface VersionTableProps {
  readonly route: Route;
  readonly versions: Versions;
}

const NO_REQUESTS = { errors: 0, requests: 0 };

type VersionTraffic = Statistics['groups'][number];
type Version = Versions[number];

/** The versions beside each other: their shares, requests, errors and durations of the last minutes. */
export function VersionTable({ route, versions }: VersionTableProps) {
  const [minutes, setMinutes] = useState<ComparedMinutes>(15);
  const { allowed, reason } = useScope('requests:read');
  const { data } = useQuery({ ...versionTrafficQuery(route, minutes, false), enabled: allowed });
  const nameOf = useNamesOfServices(versions.map((one) => one.service_id));
  return (
    <Paper withBorder component="section" aria-label="Versions">
      <Group justify="space-between" p="sm" pb={4}>
        <Title order={2}>Versions</Title>
        <SegmentedControl
          aria-label="Compared period"
          data={COMPARED_MINUTES.map((one) => ({ value: String(one), label: `${one} min` }))}
          value={String(minutes)}
          onChange={(value) =>
            setMinutes(COMPARED_MINUTES.find((one) => String(one) === value) ?? 15)
          }
        />
      </Group>
      {!allowed && (
        <Text c="dimmed" px="md">
          {reason}
        </Text>
      )}
      <DataTable
        label="Comparison of the versions"
        columns={columnsOf(versions, nameOf, data, minutes)}
        rows={versions}
        rowKey={({ name }) => name}
        empty={null}
      />
    </Paper>
  );
}

function columnsOf(
  versions: Versions,
  nameOf: (id: string) => string,
  data: Statistics | undefined,
  minutes: ComparedMinutes,
): readonly Column<Version>[] {
  const groupOf = ({ name }: Version): VersionTraffic | undefined =>
    data?.groups.find((one) => one.value === name);
  const all =
    data?.groups.reduce((sum, one) => sum + (one.value === null ? 0 : one.requests), 0) ?? 0;
  return [
    {
      key: 'name',
      header: 'Version',
      cell: (version) => (
        <span>
          <span className={classes.dot} data-index={versions.indexOf(version) % 5} aria-hidden />
          {version.name}
        </span>
      ),
    },
    {
      key: 'service',
      header: 'Service',
      isCut: true,
      visibleFrom: 'sm',
      cell: ({ service_id: id }) => (
        <TextLink to="/services/$serviceId" params={{ serviceId: id }} inherit>
          {nameOf(id)}
        </TextLink>
      ),
    },
    {
      key: 'share',
      header: 'Share',
      align: 'right',
      // The bar above says it.
      visibleFrom: 'sm',
      cell: ({ weight }) => weightText(weight, versions),
    },
    {
      key: 'got',
      header: 'Received',
      align: 'right',
      visibleFrom: 'sm',
      cell: (version) => {
        const count = groupOf(version)?.requests ?? 0;
        return all === 0 ? (
          <NoValue />
        ) : (
          `${percentText(count, all)} (${count.toLocaleString('en')})`
        );
      },
    },
    {
      key: 'rate',
      header: 'Requests/s',
      align: 'right',
      visibleFrom: 'sm',
      cell: (version) => rateText((groupOf(version)?.requests ?? 0) / (minutes * 60)),
    },
    {
      key: 'errors',
      header: 'Errors',
      align: 'right',
      cell: (version) => <ErrorShare {...(groupOf(version) ?? NO_REQUESTS)} />,
    },
    {
      key: 'p50',
      header: 'p50',
      align: 'right',
      visibleFrom: 'md',
      cell: (version) => <Duration ms={groupOf(version)?.p50_ms} />,
    },
    {
      key: 'p95',
      header: 'p95',
      align: 'right',
      cell: (version) => <Duration ms={groupOf(version)?.p95_ms} />,
    },
  ];
}

function Duration({ ms }: { readonly ms: number | null | undefined }) {
  return ms === null || ms === undefined ? <NoValue /> : msText(ms);
}
