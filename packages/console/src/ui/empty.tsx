import { Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './empty.module.css';

interface EmptyProps {
  readonly title: string;
  /** What the reader may do. */
  readonly children?: ReactNode;
}

/** In place of a list without items. */
export function Empty({ title, children }: EmptyProps) {
  return (
    <Stack align="center" gap="xs" p="xl">
      <Text fw={600}>{title}</Text>
      <Text size="sm" c="dimmed" ta="center" component="div" className={classes.text ?? ''}>
        {children}
      </Text>
    </Stack>
  );
}
