import { SERVICE_FORM } from '@gateway/client/form-fields';
import { FormSections, type Section } from '../../ui/form/form-sections.tsx';
import { CredentialFields } from './credential-fields.tsx';
import { TlsFields } from './tls-fields.tsx';
import { UpstreamFields } from './upstream-fields.tsx';

const SECTIONS: readonly Section[] = [
  { title: 'Service', columns: 1, fields: ['name'] },
  {
    title: 'Upstreams',
    description:
      'Requests are divided between the healthy ones, by weight. Data planes prefer those of their own region.',
    columns: 1,
    fields: ['upstreams'],
  },
  { title: 'Health check', fields: ['health_path', 'health_check'] },
  { title: 'Authentication at upstreams', fields: ['credential'] },
  { title: 'TLS to https upstreams', fields: ['tls'] },
  { title: 'Requests to upstreams', fields: ['protocol', 'websocket_protocol', 'send_via'] },
];

const CONTROLS = {
  url: null,
  upstreams: <UpstreamFields />,
  credential: <CredentialFields />,
  tls: <TlsFields />,
};

/** Every field of a service. */
export function ServiceFields() {
  return <FormSections fields={SERVICE_FORM} sections={SECTIONS} controls={CONTROLS} />;
}
