import { SERVICE_FORM } from '@gateway/client/form-fields';
import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEnvironment } from '../../api/environments.ts';
import { useScope } from '../../api/rights.ts';
import { InEnvironment } from '../../shell/in-environment.tsx';
import type { Draft } from '../../ui/form/draft.ts';
import { ResourceForm } from '../../ui/form/resource-form.tsx';
import { notifySuccess } from '../../ui/notify.ts';
import { notifyWithAction } from '../../ui/notify-action.tsx';
import { Page } from '../../ui/page.tsx';
import { createService } from '../service/service-query.ts';
import { NEW_SERVICE } from './service-draft.ts';
import { serviceManifest, withoutSecrets } from './service-preview.ts';
import { ServiceFields } from './service-fields.tsx';

const page = getRouteApi('/app/services/new');

/** Creates a service in the environment that the pages show. */
export function NewServicePage() {
  const environment = useEnvironment();
  const { allowed: canRoute } = useScope('routes:write');
  const navigate = page.useNavigate();
  const queryClient = useQueryClient();

  // Upstreams have no default.
  const bodyOf = (fields: Draft) => ({
    environment,
    upstreams: NEW_SERVICE['upstreams'],
    ...fields,
  });

  async function create(fields: Record<string, unknown>): Promise<void> {
    const { id, name } = await createService({ ...bodyOf(fields) });
    void queryClient.invalidateQueries({ queryKey: ['services'] });
    const route = () =>
      void navigate({ to: '/routes/new', search: (now) => ({ ...now, service: id }) });
    if (canRoute) notifyWithAction(`Created ${name}`, { label: 'Create a route', run: route });
    else notifySuccess(`Created ${name}`);
    // The page of the service shows how the data planes reach it. Back leads to the list, not to an empty form.
    await navigate({ to: '/services/$serviceId', params: { serviceId: id }, replace: true });
  }

  return (
    <Page
      title={`New service in ${environment}`}
      heading={<InEnvironment text="New service" environment={environment} />}
    >
      <ResourceForm
        key={environment}
        label="New service"
        fields={SERVICE_FORM}
        reading={{ draft: NEW_SERVICE }}
        onSave={create}
        onCancel={() => void navigate({ to: '/services' })}
        action="Create service"
        isPage
        preview={({ draft, changes }) => ({
          manifest: serviceManifest(environment, draft),
          call: {
            method: 'POST',
            path: '/v1/services',
            body: withoutSecrets(draft['name'], bodyOf(changes)),
          },
        })}
      >
        <ServiceFields target={{ environment }} />
      </ResourceForm>
    </Page>
  );
}
