import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Route, Statistics } from '../../../api/client.ts';
import { countText } from '../../../ui/count-text.ts';
import { msText } from '../../../ui/ms-text.ts';
import { TextLink } from '../../../ui/text-link.tsx';
import { rateText, shareText } from '../../../ui/share-text.ts';
import { PERIODS, type PeriodName } from '../../overview/periods.ts';
import { QuotaMeter } from '../../routes/quota-meter.tsx';
import { routeTrafficQuery } from '../../routes/routes-query.ts';
import classes from './route-numbers.module.css';

interface RouteNumbersProps {
  readonly route: Route;
  readonly period: PeriodName;
  /** undefined: they are being loaded. */
  readonly statistics: Statistics | undefined;
}

const MANY_ERRORS = 0.01;

/** The numbers of a route in a period. Those of requests lead to them. */
export function RouteNumbers({ route, period, statistics }: RouteNumbersProps) {
  const { environment, name } = route;
  const { seconds } = PERIODS[period];
  const { data: traffic } = useQuery(routeTrafficQuery(route));
  const total = statistics?.total;
  const requests = total?.requests ?? 0;
  const share = requests === 0 ? null : (total?.errors ?? 0) / requests;
  const ms = (value: number | null | undefined) =>
    typeof value === 'number' ? msText(value) : '–';
  return (
    <dl className={classes.numbers}>
      <Tile name="Requests" note={`${rateText(requests / seconds)} per second`}>
        <TextLink to="/requests" search={{ route: name, environment }} inherit>
          {requests.toLocaleString()}
        </TextLink>
      </Tile>
      <Tile name="Error rate" note={`${countText(total?.errors ?? 0, 'request')} failed`}>
        <TextLink
          to="/requests"
          search={{ route: name, environment, status: '5xx' }}
          inherit
          {...((share ?? 0) >= MANY_ERRORS && { c: 'var(--bad)' })}
        >
          {shareText(share)}
        </TextLink>
      </Tile>
      <Tile name="p95" note={`p50 ${ms(total?.p50_ms)}, p99 ${ms(total?.p99_ms)}`}>
        {ms(total?.p95_ms)}
      </Tile>
      <Tile
        name="Quota use"
        note={
          <TextLink
            to="/requests"
            search={{ route: name, environment, error: 'rate_limit_exceeded' }}
            inherit
          >
            Requests that got 429
          </TextLink>
        }
      >
        {traffic === undefined ? (
          '…'
        ) : (
          <QuotaMeter route={route} counted={{ steps: traffic.byName.get(name)?.steps ?? [] }} />
        )}
      </Tile>
    </dl>
  );
}

interface TileProps {
  readonly name: string;
  readonly note: ReactNode;
  readonly children: ReactNode;
}

function Tile({ name, note, children }: TileProps) {
  return (
    <div className={classes.tile}>
      <Text component="dt" size="xs" c="dimmed">
        {name}
      </Text>
      <dd className={classes.value}>{children}</dd>
      <Text component="dd" size="xs" c="dimmed" m={0}>
        {note}
      </Text>
    </div>
  );
}
