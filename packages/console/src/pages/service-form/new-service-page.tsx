import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEnvironment } from '../../api/environments.ts';
import { ResourceForm } from '../../ui/form/resource-form.tsx';
import { notifySuccess } from '../../ui/notify.ts';
import { Page } from '../../ui/page.tsx';
import { createService } from '../service/service-query.ts';
import { NEW_SERVICE } from './service-draft.ts';
import { ServiceFields } from './service-fields.tsx';

const page = getRouteApi('/app/services/new');

/** Creates a service in the environment that the pages show. */
export function NewServicePage() {
  const environment = useEnvironment();
  const navigate = page.useNavigate();
  const queryClient = useQueryClient();

  async function create(fields: Record<string, unknown>): Promise<void> {
    const { id, name } = await createService({ ...NEW_SERVICE, ...fields, environment });
    void queryClient.invalidateQueries({ queryKey: ['services'] });
    notifySuccess(`Service ${name} was created.`);
    // Back leads to the list, not to an empty form.
    await navigate({ to: '/services/$serviceId', params: { serviceId: id }, replace: true });
  }

  return (
    <Page title={`New service in ${environment}`}>
      <ResourceForm
        key={environment}
        label="New service"
        reading={{ draft: NEW_SERVICE }}
        onSave={create}
        onCancel={() => void navigate({ to: '/services' })}
        action="Create service"
        isPage
      >
        <ServiceFields isNew />
      </ResourceForm>
    </Page>
  );
}
