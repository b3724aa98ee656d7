import { Text } from '@mantine/core';
import { Fragment, type ReactNode } from 'react';
import { joinedUnits } from './joined-units.ts';
import classes from './facts.module.css';

interface FactsProps {
  /** Each fact with its name. */
  readonly facts: readonly (readonly [name: string, value: ReactNode])[];
}

/** Names and values, in two columns. */
export function Facts({ facts }: FactsProps) {
  return (
    <dl className={classes.facts}>
      {facts.map(([name, value]) => (
        <Fragment key={name}>
          <Text component="dt" size="sm" c="dimmed">
            {name}
          </Text>
          <Text component="dd" size="sm" m={0}>
            {typeof value === 'string' ? joinedUnits(value) : value}
          </Text>
        </Fragment>
      ))}
    </dl>
  );
}
