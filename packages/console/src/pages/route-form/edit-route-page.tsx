import { ROUTE_FORM } from '@gateway/client/form-fields';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useFollowEnvironment } from '../../api/follow-environment.ts';
import { useServiceName } from '../../api/service-names.ts';
import { undoing, type Draft } from '../../ui/form/draft.ts';
import { readLastChange } from '../../ui/form/last-change.ts';
import { ResourceForm, type Reading } from '../../ui/form/resource-form.tsx';
import { LoadError } from '../../ui/load-error.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Page } from '../../ui/page.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { notifyWithUndo } from '../../ui/undo.tsx';
import { routeQuestion } from '../route/route-question.tsx';
import { patchRoute, readRoute, routeQuery, type RouteReading } from '../route/route-query.ts';
import { servicesOf } from '../routes/services-of.ts';
import { draftOf, MERGED_ROUTE_FIELDS, TARGET_FIELDS } from './route-draft.ts';
import { routeManifest } from './route-preview.ts';
import { RouteFields } from './route-fields.tsx';

const page = getRouteApi('/app/routes/$routeId/edit');

/** Changes a route. */
export function EditRoutePage() {
  const { routeId } = page.useParams();
  const { data, error, refetch } = useQuery({ ...routeQuery(routeId), refetchInterval: false });
  useFollowEnvironment(data?.route.environment);
  if (data !== undefined) return <EditForm key={routeId} reading={data} />;
  return (
    <Page title="Edit route" actions={<TextLink to="/routes">All routes</TextLink>}>
      {error === null ? <Loading /> : <LoadError error={error} onRetry={() => void refetch()} />}
    </Page>
  );
}

function EditForm({ reading }: { readonly reading: RouteReading }) {
  // What the reader saw first stays what the form compares with, whatever is read in the background.
  const [{ route, etag }] = useState(reading);
  const navigate = page.useNavigate();
  const queryClient = useQueryClient();
  const { id, name, environment } = route;
  const serviceName = useServiceName(environment, servicesOf(route));
  const leave = () => navigate({ to: '/routes/$routeId', params: { routeId: id } });

  async function save(
    changes: Record<string, unknown>,
    ifMatch: string | undefined,
    before: Draft,
  ): Promise<void> {
    const saved = await patchRoute(queryClient, id, changes, ifMatch);
    notifyWithUndo(`Route ${saved.route.name} was saved.`, {
      done: `Route ${name} is as it was before.`,
      run: () => patchRoute(queryClient, id, undoing(changes, before, TARGET_FIELDS), saved.etag),
    });
    await leave();
  }

  return (
    <Page title={`Edit ${name}`}>
      <ResourceForm
        label={`Edit ${name}`}
        fields={ROUTE_FORM}
        reading={{ draft: draftOf(route), etag }}
        merged={MERGED_ROUTE_FIELDS}
        onSave={save}
        askBefore={(before, after) =>
          routeQuestion({ ...route, ...before }, { ...route, ...after }, serviceName)
        }
        onRead={async (): Promise<Reading> => {
          const [current, change] = await Promise.all([
            readRoute(id),
            readLastChange('route', route),
          ]);
          return { draft: draftOf(current.route), etag: current.etag, change };
        }}
        onCancel={() => void leave()}
        action="Save changes"
        isPage
        preview={({ draft, changes, etag: ifMatch }) => ({
          manifest: routeManifest(environment, draft, serviceName),
          call: { method: 'PATCH', path: `/v1/routes/${id}`, etag: ifMatch, body: changes },
        })}
      >
        <RouteFields environment={environment} />
      </ResourceForm>
    </Page>
  );
}
