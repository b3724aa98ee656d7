import { msText } from '../../ui/ms-text.ts';
import { changeOf, shareChangeOf } from './change-text.ts';
import { rateText, shareText } from '../../ui/share-text.ts';
import { PERIODS, type PeriodName } from './periods.ts';
import { requestsSince } from './requests-link.ts';
import { StatCard } from './stat-card.tsx';
import classes from './stat-card.module.css';
import { shareOf, type Traffic, type TrafficPoint, type TrafficSums } from './traffic.ts';

interface StatCardsProps {
  /** undefined: it is being loaded. */
  readonly traffic: Traffic | undefined;
  readonly period: PeriodName | undefined;
}

/** A part of the requests above which something is wrong. */
const BAD_SHARE = 0.01;

const errorShare = (sums: TrafficSums) => shareOf(sums.errors, sums);
const refusedShare = ({ statuses, requests }: TrafficSums) =>
  shareOf(statuses['4xx'] + statuses['429'], { requests });

/** How much traffic there is, how much of it fails or is refused, and how long it takes. */
export function StatCards({ traffic, period }: StatCardsProps) {
  const sums = traffic?.sums;
  const before = traffic?.before;
  const since = requestsSince(traffic?.sinceMs ?? 0);
  const course = (value: (point: TrafficPoint) => number) => traffic?.points.map(value) ?? [];
  const against =
    period === undefined
      ? 'Compared with the last 30 minutes'
      : `Compared with the ${PERIODS[period].label} before`;
  const share = sums && errorShare(sums);
  const p95 = sums?.p95 ?? null;
  return (
    <div className={classes.cards} role="group" aria-label="Traffic">
      <StatCard
        name={period === undefined ? 'Requests per second' : 'Requests'}
        value={
          sums &&
          (period === undefined
            ? rateText(sums.requestsPerSecond)
            : sums.requests.toLocaleString('en'))
        }
        change={sums && changeOf(sums.requestsPerSecond, before?.requestsPerSecond)}
        against={against}
        values={course(({ requests }) => requests)}
        to="/requests"
        search={since}
      />
      <StatCard
        name="Error rate"
        value={share === undefined ? undefined : shareText(share)}
        isBad={share !== undefined && share !== null && share >= BAD_SHARE}
        change={
          share === undefined ? undefined : shareChangeOf(share, before && errorShare(before))
        }
        against={against}
        isWorseUp
        values={course(({ errors }) => errors)}
        to="/requests"
        search={{ ...since, failed: true }}
      />
      <StatCard
        name="4xx"
        value={sums && shareText(refusedShare(sums))}
        change={sums && shareChangeOf(refusedShare(sums), before && refusedShare(before))}
        against={against}
        isWorseUp
        values={course(({ statuses }) => statuses['4xx'] + statuses['429'])}
        to="/requests"
        search={{ ...since, status: '4xx' }}
      />
      <StatCard
        name="p95"
        value={sums && (p95 === null ? '–' : msText(p95))}
        change={sums && changeOf(sums.p95, before?.p95)}
        against={against}
        isWorseUp
        values={course(({ p95 }) => p95 ?? 0)}
        to="/requests"
        search={{ ...since, ...(p95 === null ? {} : { slower: Math.floor(p95) }) }}
      />
    </div>
  );
}
