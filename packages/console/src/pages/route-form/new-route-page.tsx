import type { components } from '@gateway/client';
import { ROUTE_FORM } from '@gateway/client/form-fields';
import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { gateway } from '../../api/client.ts';
import { useEnvironment } from '../../api/environments.ts';
import { useScope } from '../../api/rights.ts';
import { useServiceName } from '../../api/service-names.ts';
import { InEnvironment } from '../../shell/in-environment.tsx';
import type { Draft } from '../../ui/form/draft.ts';
import { ResourceForm } from '../../ui/form/resource-form.tsx';
import { notifySuccess } from '../../ui/notify.ts';
import { notifyWithAction } from '../../ui/notify-action.tsx';
import { Page } from '../../ui/page.tsx';
import { SEND_HASH } from '../send/send-button.tsx';
import { NEW_ROUTE } from './route-draft.ts';
import { routeManifest } from './route-preview.ts';
import { RouteFields } from './route-fields.tsx';

const page = getRouteApi('/app/routes/new');

/** Creates a route in the environment that the pages show. */
export function NewRoutePage() {
  const environment = useEnvironment();
  const { service } = page.useSearch();
  const { allowed: canSend } = useScope('proxy');
  const navigate = page.useNavigate();
  const serviceName = useServiceName(environment, [service ?? null]);
  const queryClient = useQueryClient();

  /** A route of a service is in the environment of the service. */
  function bodyOf(fields: Draft): Draft {
    const hasService = (fields['service_id'] ?? fields['versions'] ?? null) !== null;
    return { ...fields, ...(hasService ? {} : { environment }) };
  }

  async function create(fields: Record<string, unknown>): Promise<void> {
    // The API checks what was typed, and says what is wrong.
    const body = bodyOf(fields) as components['schemas']['RouteCreate'];
    const { id, name } = (await gateway.post('/v1/routes', { body })).body.data;
    void queryClient.invalidateQueries({ queryKey: ['routes'] });
    const send = () => {
      const isThere = location.pathname.endsWith(`/routes/${id}`);
      const params = { routeId: id };
      void navigate({ to: '/routes/$routeId', params, hash: SEND_HASH, replace: isThere });
    };
    if (canSend) notifyWithAction(`Created ${name}`, { label: 'Send a request', run: send });
    else notifySuccess(`Created ${name}`);
    // Back leads to the list, not to an empty form.
    await navigate({ to: '/routes/$routeId', params: { routeId: id }, replace: true });
  }

  return (
    <Page
      title={`New route in ${environment}`}
      heading={<InEnvironment text="New route" environment={environment} />}
    >
      <ResourceForm
        key={environment}
        label="New route"
        fields={ROUTE_FORM}
        reading={{ draft: NEW_ROUTE }}
        start={service === undefined ? undefined : { ...NEW_ROUTE, service_id: service }}
        onSave={create}
        onCancel={() => void navigate({ to: '/routes' })}
        action="Create route"
        isPage
        preview={({ draft, changes }) => ({
          manifest: routeManifest(environment, draft, serviceName),
          call: { method: 'POST', path: '/v1/routes', body: bodyOf(changes) },
        })}
      >
        <RouteFields environment={environment} isNew />
      </ResourceForm>
    </Page>
  );
}
