import { Skeleton } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { ComponentPropsWithRef } from 'react';
import { Sparkline } from '../../ui/sparkline.tsx';
import type { Change } from './change-text.ts';
import classes from './stat-card.module.css';

interface StatCardProps extends ComponentPropsWithRef<'a'> {
  readonly name: string;
  /** undefined: it is being loaded. */
  readonly value: string | undefined;
  /** Whether the number is bad by itself. */
  readonly isBad?: boolean;
  readonly change: Change | undefined;
  /** What it is compared with. */
  readonly against: string;
  /** Whether more is worse. */
  readonly isWorseUp?: boolean;
  /** The course of the number. */
  readonly values: readonly number[];
}

function Card({
  name,
  value,
  isBad = false,
  change,
  against,
  isWorseUp = false,
  values,
  ...link
}: StatCardProps) {
  const isPlain = !isWorseUp || change === undefined || change.isFirst === true;
  const tone = isPlain ? 'plain' : change.isUp ? 'worse' : 'better';
  return (
    <a {...link} className={classes.card}>
      <span className={classes.name}>{name}</span>{' '}
      <span className={classes.value} data-bad={isBad || undefined}>
        {value ?? <Skeleton component="span" display="block" height={20} width={72} my={6} />}
      </span>{' '}
      {change !== undefined && (
        <span className={classes.change} data-tone={tone} title={against}>
          {change.text}
        </span>
      )}
      <span className={classes.course} aria-hidden>
        <Sparkline label="" values={values} width={88} height={28} />
      </span>
    </a>
  );
}

/** A number of the traffic, large enough to be read from afar. It leads to the requests behind it. */
export const StatCard = createLink(Card);
