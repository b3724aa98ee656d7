import { Skeleton, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './tiles.module.css';

interface TilesProps {
  readonly children: ReactNode;
}

/** Values beside each other, each a `Tile`. */
export function Tiles({ children }: TilesProps) {
  return <dl className={classes.tiles}>{children}</dl>;
}

interface TileProps {
  readonly name: string;
  readonly note?: ReactNode;
  /** Whether it has words in place of a number. */
  readonly isWords?: boolean;
  readonly isLoading?: boolean;
  readonly children: ReactNode;
}

/** A value with its name above it, and a note below. */
export function Tile({ name, note, isWords = false, isLoading = false, children }: TileProps) {
  return (
    <div className={classes.tile}>
      <Text component="dt" size="xs" c="dimmed">
        {name}
      </Text>
      <dd className={classes.value} data-words={isWords || undefined}>
        {isLoading ? <Skeleton height={20} width={72} my={4} /> : children}
      </dd>
      {note !== undefined && (
        <Text component="dd" size="xs" c="dimmed" m={0}>
          {isLoading ? <Skeleton height={10} width={96} my={4} /> : note}
        </Text>
      )}
    </div>
  );
}
