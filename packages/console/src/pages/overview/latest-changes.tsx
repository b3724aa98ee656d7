import { queryOptions, useQuery } from '@tanstack/react-query';
import { gateway } from '../../api/client.ts';
import { useScope } from '../../api/rights.ts';
import { useNamesOfTokens } from '../../api/token-names.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { visibleText } from '../../ui/visible-text.ts';
import { actionText, changedFieldsText, resourceName } from '../../ui/changes/event-text.ts';
import classes from './latest-changes.module.css';
import { Note, Panel, PanelContent } from './panel.tsx';
import { Rows } from './rows.tsx';

const SHOWN = 6;

function latestChangesQuery(environment: string) {
  return queryOptions({
    queryKey: ['audit-events', environment, 'latest'],
    queryFn: async ({ signal }) => {
      const query = { environment, limit: SHOWN };
      return (await gateway.get('/v1/audit-events', { params: { query }, signal })).body.data;
    },
    refetchInterval: 5000,
  });
}

/** What was changed last in the environment, and by whom. */
export function LatestChanges({ environment }: { readonly environment: string }) {
  const { allowed } = useScope('audit:read');
  const query = useQuery({ ...latestChangesQuery(environment), enabled: allowed });
  const nameOf = useNamesOfTokens((query.data ?? []).map(({ token_id }) => token_id));
  return (
    <Panel
      title="Latest changes"
      more={
        <TextLink to="/audit" size="sm" aria-label="All changes">
          All
        </TextLink>
      }
    >
      <PanelContent scope="audit:read" query={query}>
        {(events) =>
          events.length === 0 ? (
            <Note>Nothing was changed in {environment}.</Note>
          ) : (
            <Rows items={events} itemKey={({ id }) => id}>
              {(event) => [
                <span
                  key="what"
                  title={event.action.endsWith('.updated') ? changedFieldsText(event) : undefined}
                >
                  {event.resource_type} <b>{visibleText(resourceName(event))}</b>{' '}
                  {actionText(event)}
                </span>,
                <span key="who" className={classes.who}>
                  <span>
                    by{' '}
                    {event.token_id === null ? 'the gateway' : visibleText(nameOf(event.token_id))}
                  </span>
                  &nbsp;·&nbsp;
                  <RelativeTime at={event.occurred_at} />
                </span>,
              ]}
            </Rows>
          )
        }
      </PanelContent>
    </Panel>
  );
}
