import { Group, Paper, Skeleton, Stack, Text, Title } from '@mantine/core';
import { TriangleAlert } from 'lucide-react';
import { useId, type ReactNode } from 'react';
import { useScope } from '../../api/rights.ts';
import { LoadError } from '../../ui/load-error.tsx';
import classes from './panel.module.css';

/** As many as the lists have at most. */
const LOADING_ROWS = 6;

interface PanelProps {
  readonly title: string;
  /** Which time it is of, after the title. */
  readonly over?: string;
  /** Whether somebody should look at it now. */
  readonly isUrgent?: boolean;
  /** Beside the title, such as a link to all of it. */
  readonly more?: ReactNode;
  readonly children: ReactNode;
}

/** A part of the overview. */
export function Panel({ title, over, isUrgent = false, more, children }: PanelProps) {
  const heading = useId();
  return (
    <Paper
      withBorder
      p="sm"
      miw={0}
      component="section"
      aria-labelledby={heading}
      className={classes.panel ?? ''}
      mod={{ urgent: isUrgent }}
    >
      <Stack gap={4}>
        <Group justify="space-between" gap="xs" wrap="nowrap" align="baseline">
          <Title order={2} id={heading} className={classes.title ?? ''}>
            {isUrgent && <TriangleAlert size={16} className={classes.icon ?? ''} aria-hidden />}
            {title}
            {over !== undefined && <span className={classes.over}>, {over}</span>}
          </Title>
          {more}
        </Group>
        {children}
      </Stack>
    </Paper>
  );
}

interface PanelContentProps<Data> {
  /** The scope that the data needs. */
  readonly scope: string;
  readonly query: {
    readonly data: Data | undefined;
    readonly error: unknown;
    readonly refetch: () => unknown;
  };
  readonly children: (data: Data) => ReactNode;
}

/** Shows the data of a panel, or the reason why there is no data. */
export function PanelContent<Data>({ scope, query, children }: PanelContentProps<Data>) {
  const { allowed, reason } = useScope(scope);
  const { data, error, refetch } = query;
  if (!allowed) return <Note>{reason}</Note>;
  if (data !== undefined) return children(data);
  if (error !== null) return <LoadError error={error} onRetry={() => void refetch()} isPart />;
  return <RowsSkeleton />;
}

/** Lines as high as those of a short list. */
function RowsSkeleton() {
  return (
    <div className={classes.loading} role="status" aria-label="Loading">
      {Array.from({ length: LOADING_ROWS }, (_none, index) => (
        <div key={index}>
          <Skeleton height={12} width={`${44 - 5 * index}%`} />
          <Skeleton height={12} width="18%" />
        </div>
      ))}
    </div>
  );
}

/** The sentence that a panel without data shows. */
export function Note({ children }: { readonly children: ReactNode }) {
  return (
    <Text size="sm" c="dimmed">
      {children}
    </Text>
  );
}
