import { SERVICE_FORM } from '@gateway/client/form-fields';
import { FormSections } from '../../ui/form/form-sections.tsx';
import { CredentialFields } from './credential-fields.tsx';
import { HealthCheckFields } from './health-check-fields.tsx';
import { ownService } from './service-draft.ts';
import { defaultsSentence, FIRST_SECTIONS, FOLDED_SECTIONS } from './service-sections.ts';
import { TlsFields } from './tls-fields.tsx';
import { UpstreamFields } from './upstream-fields.tsx';

const CONTROLS = {
  url: null,
  upstreams: <UpstreamFields />,
  health_path: <HealthCheckFields />,
  health_check: null,
  credential: <CredentialFields />,
  tls: <TlsFields />,
};

/** Every field of a service. @param isNew it does not exist yet */
export function ServiceFields({ isNew = false }: { readonly isNew?: boolean }) {
  return (
    <FormSections
      fields={SERVICE_FORM}
      first={FIRST_SECTIONS}
      rest="Settings"
      about={defaultsSentence()}
      folded={FOLDED_SECTIONS}
      controls={CONTROLS}
      own={ownService}
      isNew={isNew}
    />
  );
}
