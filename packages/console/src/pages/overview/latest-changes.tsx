import { queryOptions, useQuery } from '@tanstack/react-query';
import { gateway, type AuditEvent } from '../../api/client.ts';
import { useScope } from '../../api/rights.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
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
  return (
    <Panel title="Latest changes">
      <PanelContent scope="audit:read" query={query}>
        {(events) =>
          events.length === 0 ? (
            <Note>Nothing was changed in {environment}.</Note>
          ) : (
            <Rows items={events} itemKey={({ id }) => id}>
              {(event) => [changeText(event), <RelativeTime key="at" at={event.occurred_at} />]}
            </Rows>
          )
        }
      </PanelContent>
    </Panel>
  );
}

/** Such as `route charges updated`. */
function changeText({ action, after, before, resource_id }: AuditEvent): string {
  const [kind = '', verb = ''] = action.replaceAll('_', ' ').split('.');
  const name = (after ?? before)?.['name'];
  return `${kind} ${typeof name === 'string' ? name : resource_id} ${verb}`;
}
