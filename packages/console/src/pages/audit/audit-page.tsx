import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEnvironment } from '../../api/environments.ts';
import { useTokenName } from '../../api/token-names.ts';
import { Empty } from '../../ui/empty.tsx';
import { LoadError } from '../../ui/load-error.tsx';
import { NothingYet } from '../../ui/nothing-yet.tsx';
import { Page } from '../../ui/page.tsx';
import { Pager } from '../../ui/pager.tsx';
import { withCursor } from '../../ui/with-cursor.ts';
import { AuditFilters } from './audit-filters.tsx';
import { auditQuery } from './audit-query.ts';
import { withFilters } from '../list-search.ts';
import { EventCard } from './event-card.tsx';
import classes from './audit.module.css';

const route = getRouteApi('/app/audit');

/** Who changed what, with what was before and after. */
export function AuditPage() {
  const environment = useEnvironment();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const nameOf = useTokenName();
  const { data, error, refetch } = useQuery(auditQuery(environment, search));
  return (
    <Page title="Audit">
      <AuditFilters
        search={search}
        nameOf={nameOf}
        onChange={(change) => void navigate({ search: (now) => withFilters(now, change) })}
      />
      {error !== null && <LoadError error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton height={120} />}
      {data?.data.length === 0 && data.next_cursor !== null && <NothingYet />}
      {data?.data.length === 0 && data.next_cursor === null && (
        <Empty title="No changes">
          Changes of the last 400 days that your token covers are shown here.
        </Empty>
      )}
      {data !== undefined && data.data.length > 0 && (
        <ul className={classes.events} aria-label="Changes">
          {data.data.map((event) => (
            <EventCard key={event.id} event={event} nameOf={nameOf} />
          ))}
        </ul>
      )}
      <Pager
        cursor={search.cursor}
        nextCursor={data?.next_cursor}
        onMove={(to) => void navigate({ search: (now) => withCursor(now, to) })}
      />
    </Page>
  );
}
