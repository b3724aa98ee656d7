import { SERVICE_FORM } from '@gateway/client/form-fields';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useFollowEnvironment } from '../../api/follow-environment.ts';
import { undoing, type Draft } from '../../ui/form/draft.ts';
import { readLastChange } from '../../ui/form/last-change.ts';
import { ResourceForm, type Reading } from '../../ui/form/resource-form.tsx';
import { LoadError } from '../../ui/load-error.tsx';
import { Loading } from '../../ui/loading.tsx';
import { notifySuccess } from '../../ui/notify.ts';
import { Page } from '../../ui/page.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { notifyWithUndo } from '../../ui/undo.tsx';
import {
  patchService,
  readService,
  serviceQuery,
  type ServiceReading,
} from '../service/service-query.ts';
import { draftOf, MERGED_SERVICE_FIELDS, SECRET_SERVICE_FIELDS } from './service-draft.ts';
import { serviceManifest, withoutSecrets } from './service-preview.ts';
import { ServiceFields } from './service-fields.tsx';

const page = getRouteApi('/app/services/$serviceId/edit');

/** Changes a service. */
export function EditServicePage() {
  const { serviceId } = page.useParams();
  const query = { ...serviceQuery(serviceId), refetchInterval: false } as const;
  const { data, error, refetch } = useQuery(query);
  useFollowEnvironment(data?.service.environment);
  if (data !== undefined) return <EditForm key={serviceId} reading={data} />;
  return (
    <Page title="Edit service" actions={<TextLink to="/services">All services</TextLink>}>
      {error === null ? <Loading /> : <LoadError error={error} onRetry={() => void refetch()} />}
    </Page>
  );
}

function EditForm({ reading }: { readonly reading: ServiceReading }) {
  // What the reader saw first stays what the form compares with, whatever is read in the background.
  const [{ service, etag }] = useState(reading);
  const navigate = page.useNavigate();
  const queryClient = useQueryClient();
  const { id, name, environment } = service;
  const leave = () => navigate({ to: '/services/$serviceId', params: { serviceId: id } });

  async function save(
    changes: Record<string, unknown>,
    ifMatch: string | undefined,
    before: Draft,
  ): Promise<void> {
    const saved = await patchService(queryClient, id, changes, ifMatch);
    const message = `Service ${saved.service.name} was saved.`;
    // A secret that was replaced is not known any more.
    if (SECRET_SERVICE_FIELDS.some((one) => one in changes)) notifySuccess(message);
    else {
      notifyWithUndo(message, {
        done: `Service ${name} is as it was before.`,
        run: () => patchService(queryClient, id, undoing(changes, before), saved.etag),
      });
    }
    await leave();
  }

  return (
    <Page title={`Edit ${name}`}>
      <ResourceForm
        label={`Edit ${name}`}
        fields={SERVICE_FORM}
        reading={{ draft: draftOf(service), etag }}
        merged={MERGED_SERVICE_FIELDS}
        secret={SECRET_SERVICE_FIELDS}
        onSave={save}
        onRead={async (): Promise<Reading> => {
          const [current, change] = await Promise.all([
            readService(id),
            readLastChange('service', service),
          ]);
          return { draft: draftOf(current.service), etag: current.etag, change };
        }}
        onCancel={() => void leave()}
        action="Save changes"
        isPage
        preview={({ draft, changes, etag: ifMatch }) => ({
          manifest: serviceManifest(environment, draft),
          call: {
            method: 'PATCH',
            path: `/v1/services/${id}`,
            etag: ifMatch,
            body: withoutSecrets(draft['name'], changes),
          },
        })}
      >
        <ServiceFields target={{ serviceId: id }} />
      </ResourceForm>
    </Page>
  );
}
