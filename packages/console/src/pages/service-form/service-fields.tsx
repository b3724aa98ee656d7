import { SERVICE_FORM } from '@gateway/client/form-fields';
import { Stack } from '@mantine/core';
import { FormSections } from '../../ui/form/form-sections.tsx';
import { ConnectionTest } from './connection-test.tsx';
import { CredentialFields } from './credential-fields.tsx';
import { HealthCheckFields } from './health-check-fields.tsx';
import { ownService } from './service-draft.ts';
import { defaultsSentence, FIRST_SECTIONS, FOLDED_SECTIONS } from './service-sections.ts';
import type { FormTarget } from './test-question.ts';
import { TlsFields } from './tls-fields.tsx';
import { UpstreamFields } from './upstream-fields.tsx';

const CONTROLS = {
  url: null,
  health_path: <HealthCheckFields />,
  health_check: null,
  credential: <CredentialFields />,
  tls: <TlsFields />,
};

/** Every field of a service. @param target where it will be if it does not exist yet, or which one it is */
export function ServiceFields({ target }: { readonly target: FormTarget }) {
  const upstreams = (
    <Stack gap="md">
      <UpstreamFields />
      <ConnectionTest target={target} />
    </Stack>
  );
  return (
    <FormSections
      fields={SERVICE_FORM}
      first={FIRST_SECTIONS}
      rest="Settings"
      about={defaultsSentence()}
      folded={FOLDED_SECTIONS}
      controls={{ ...CONTROLS, upstreams }}
      own={ownService}
      isNew={'environment' in target}
    />
  );
}
