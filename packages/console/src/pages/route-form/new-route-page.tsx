import type { components } from '@gateway/client';
import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { gateway } from '../../api/client.ts';
import { useEnvironment } from '../../api/environments.ts';
import { ResourceForm } from '../../ui/form/resource-form.tsx';
import { notifySuccess } from '../../ui/notify.ts';
import { Page } from '../../ui/page.tsx';
import { NEW_ROUTE } from './route-draft.ts';
import { RouteFields } from './route-fields.tsx';

const page = getRouteApi('/app/routes/new');

/** Creates a route in the environment that the pages show. */
export function NewRoutePage() {
  const environment = useEnvironment();
  const navigate = page.useNavigate();
  const queryClient = useQueryClient();

  async function create(fields: Record<string, unknown>): Promise<void> {
    // The API checks what was typed, and says what is wrong.
    const hasService = (fields['service_id'] ?? fields['versions'] ?? null) !== null;
    const body = {
      ...fields,
      ...(hasService ? {} : { environment }),
    } as components['schemas']['RouteCreate'];
    const { id, name } = (await gateway.post('/v1/routes', { body })).body.data;
    void queryClient.invalidateQueries({ queryKey: ['routes'] });
    notifySuccess(`Route ${name} was created.`);
    // Back leads to the list, not to an empty form.
    await navigate({ to: '/routes/$routeId', params: { routeId: id }, replace: true });
  }

  return (
    <Page title={`New route in ${environment}`}>
      <ResourceForm
        key={environment}
        label="New route"
        reading={{ draft: NEW_ROUTE }}
        onSave={create}
        onCancel={() => void navigate({ to: '/routes' })}
        action="Create route"
        isPage
      >
        <RouteFields environment={environment} isNew />
      </ResourceForm>
    </Page>
  );
}
