import { Badge } from '@mantine/core';
import classes from './status-badge.module.css';

const TONES: Readonly<Record<string, string | undefined>> = {
  healthy: 'green',
  active: 'green',
  live: 'green',
  current: 'green',
  success: 'green',
  added: 'green',
  degraded: 'yellow',
  half_open: 'yellow',
  stale: 'yellow',
  changed: 'yellow',
  expiring: 'yellow',
  rejected: 'yellow',
  upstream_error: 'red',
  upstream_unavailable: 'red',
  timeout: 'red',
  unhealthy: 'red',
  ejected: 'red',
  removed: 'red',
  expired: 'red',
  failed: 'red',
  'not tested': 'yellow',
};

interface StatusBadgeProps {
  readonly status: string;
  /** For words that are made of a value. Default: that of the state. */
  readonly tone?: 'yellow';
}

/** A state in a colour of its own. The word stands in the badge, so that nobody depends on the colour. */
export function StatusBadge({ status, tone }: StatusBadgeProps) {
  return (
    <Badge
      className={classes.badge ?? ''}
      data-tone={tone ?? TONES[status] ?? 'gray'}
      variant="default"
      size="md"
      tt="none"
      leftSection={<span className={classes.dot} />}
    >
      {status.replaceAll('_', ' ')}
    </Badge>
  );
}
