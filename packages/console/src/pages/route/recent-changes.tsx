import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { AuditEvent, Route } from '../../api/client.ts';
import { useScope } from '../../api/rights.ts';
import { useNamesOfTokens } from '../../api/token-names.ts';
import { localTime } from '../../ui/time-text.ts';
import type { ChartMarker } from '../../ui/time-chart/group-markers.ts';
import { visibleText } from '../../ui/visible-text.ts';
import { inlineChanges } from '../../ui/changes/inline-changes.ts';
import { actionText } from '../../ui/changes/event-text.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { recentChangesQuery } from './changes-query.ts';
import classes from './recent-changes.module.css';

/** The changes of a route in a period that ends now, and the markers that a chart shows for them. */
export function useRecentChanges(route: Route, seconds: number) {
  const { allowed } = useScope('audit:read');
  const { data: events = NONE } = useQuery({
    ...recentChangesQuery(route, seconds),
    enabled: allowed,
  });
  const { id } = route;
  const markers = useMemo(() => events.map((event) => markerOf(id, event)), [id, events]);
  return { events, markers };
}

const NONE: readonly AuditEvent[] = [];

function markerOf(routeId: string, event: AuditEvent): ChartMarker {
  const { id, occurred_at: at } = event;
  return {
    atMs: Date.parse(at),
    of: { routeId, change: id },
    label: `${actionText(event)} ${visibleText(whatText(event))}, ${localTime(at)}`,
  };
}

/** The fields of a change, such as `versions, timeout_ms`. */
function whatText({ before, after }: AuditEvent): string {
  const changes = inlineChanges(before, after);
  if (changes === undefined) return '';
  const more = changes.more > 0 ? [`${changes.more} more`] : [];
  return [...changes.shown.map(({ path }) => path), ...more].join(', ');
}

interface RecentChangesProps {
  readonly route: Route;
  readonly events: readonly AuditEvent[];
}

const SHOWN = 4;

/** The newest changes in the period of a chart, which lead to the history. Nothing if there are none. */
export function RecentChanges({ route, events }: RecentChangesProps) {
  const shown = events.slice(-SHOWN).toReversed();
  const nameOf = useNamesOfTokens(shown.map((one) => one.token_id));
  if (shown.length === 0) return null;
  const more = events.length - shown.length;
  return (
    <ul className={classes.changes} aria-label="Changes in this period">
      {shown.map((event) => (
        <li key={event.id}>
          <span className={classes.flag} aria-hidden />
          <TextLink
            to="/routes/$routeId"
            params={{ routeId: route.id }}
            search={{ tab: 'history', change: event.id }}
            size="xs"
          >
            {actionText(event)} {whatText(event)}
          </TextLink>{' '}
          <Text span size="xs" c="dimmed">
            by {event.token_id === null ? 'the gateway' : nameOf(event.token_id)},{' '}
            <RelativeTime at={event.occurred_at} />
          </Text>
        </li>
      ))}
      {more > 0 && (
        <li>
          <TextLink
            to="/routes/$routeId"
            params={{ routeId: route.id }}
            search={{ tab: 'history' }}
            size="xs"
          >
            and {more} more
          </TextLink>
        </li>
      )}
    </ul>
  );
}
