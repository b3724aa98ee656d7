import { Paper } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { AuditEvent } from '../../api/client.ts';
import { useEnvironment } from '../../api/environments.ts';
import { useNamesOfTokens } from '../../api/token-names.ts';
import { ChangeTable } from '../../ui/changes/change-table.tsx';
import { resourceName } from '../../ui/changes/event-text.ts';
import { Empty } from '../../ui/empty.tsx';
import { LoadError } from '../../ui/load-error.tsx';
import { NothingYet } from '../../ui/nothing-yet.tsx';
import { Page } from '../../ui/page.tsx';
import { Pager } from '../../ui/pager.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { withCursor } from '../../ui/with-cursor.ts';
import { withFilters } from '../list-search.ts';
import { AuditFilters } from './audit-filters.tsx';
import { hasFilters } from './audit-search.ts';
import { auditQuery } from './audit-query.ts';
import { ExportButton } from './export-button.tsx';

const route = getRouteApi('/app/audit');

/** Who changed what, with what was before and after. */
export function AuditPage() {
  const environment = useEnvironment();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data, error, refetch } = useQuery(auditQuery(environment, search));
  const events = data?.data;
  const nameOf = useNamesOfTokens([
    search.token ?? null,
    ...(events ?? []).map((event) => event.token_id),
  ]);
  const chosen = events?.find((event) => event.resource_id === search.resource);
  return (
    <Page title="Audit" actions={<ExportButton environment={environment} search={search} />}>
      <AuditFilters
        environment={environment}
        search={search}
        nameOf={nameOf}
        resourceName={chosen && `${chosen.resource_type} ${resourceName(chosen)}`}
        onChange={(change) => void navigate({ search: (now) => withFilters(now, change) })}
      />
      {error !== null && <LoadError error={error} onRetry={() => void refetch()} />}
      {events?.length === 0 && data?.next_cursor !== null && <NothingYet />}
      {events?.length === 0 && data?.next_cursor === null && (
        <Paper withBorder>
          <Empty title={hasFilters(search) ? 'No change matches' : 'No changes'}>
            {hasFilters(search) ? (
              <TextLink to="/audit">Show all changes</TextLink>
            ) : (
              'Changes of the last 400 days that your token covers are shown here.'
            )}
          </Empty>
        </Paper>
      )}
      {(events === undefined ? error === null : events.length > 0) && (
        <ChangeTable
          label="Changes"
          events={events}
          personOf={(id) => <Person id={id} name={nameOf(id)} />}
          resourceOf={(event) => <Resource event={event} />}
        />
      )}
      <Pager
        cursor={search.cursor}
        nextCursor={data?.next_cursor}
        onMove={(to) => void navigate({ search: (now) => withCursor(now, to) })}
      />
    </Page>
  );
}

/** Leads to the changes by one person. */
function Person({ id, name }: { readonly id: string; readonly name: string }) {
  return (
    <TextLink
      from="/audit"
      to="/audit"
      search={(now) => withFilters(now, { token: id })}
      c="inherit"
      title={`Only changes by ${name}`}
    >
      {name}
    </TextLink>
  );
}

/** Leads to the changes of one resource. */
function Resource({ event }: { readonly event: AuditEvent }) {
  const { resource_type: type, resource_id: resource } = event;
  const name = resourceName(event);
  return (
    <>
      {type}{' '}
      <TextLink
        from="/audit"
        to="/audit"
        search={(now) => withFilters(now, { resource })}
        c="inherit"
        fw={500}
        title={`Only changes of ${name}`}
      >
        {name}
      </TextLink>
    </>
  );
}
