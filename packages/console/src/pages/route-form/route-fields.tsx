import { ROUTE_FORM } from '@gateway/client/form-fields';
import { FormSections, type Section } from '../../ui/form/form-sections.tsx';
import { AuthFields, MethodsField } from './caller-fields.tsx';
import { MatchFields } from './match-fields.tsx';
import { RewriteFields } from './rewrite-fields.tsx';
import { MirrorFields } from './mirror-fields.tsx';
import { TargetFields } from './target-fields.tsx';

const SECTIONS: readonly Section[] = [
  { title: 'Route', fields: ['name', 'status'] },
  { title: 'Target', fields: ['service_id', 'regions'] },
  {
    title: 'Hosts and paths',
    description:
      'Where callers reach the route besides /v1/proxy and its name. The most specific way wins.',
    columns: 1,
    fields: ['match'],
  },
  {
    title: 'Rewriting',
    description: 'What the upstream and the caller get instead of what was sent.',
    columns: 1,
    fields: ['rewrite'],
  },
  { title: 'Callers', fields: ['auth', 'early_hints', 'locations', 'grpc_errors'] },
  {
    title: 'Browsers (CORS)',
    description: 'Which pages of other origins may call the route and read its responses.',
    columns: 1,
    fields: ['cors'],
  },
  {
    title: 'Methods and bodies',
    fields: ['methods', 'max_body_bytes', 'allow_encoded_control_characters'],
  },
  {
    title: 'Streams',
    description: 'Requests and responses that last, such as those of gRPC.',
    fields: ['streaming', 'max_message_bytes'],
  },
  { title: 'Quota', description: 'Further requests get 429.', fields: ['rate_limit'] },
  {
    title: 'Mirror',
    description: 'Copies of requests for a service that is tried out.',
    columns: 1,
    fields: ['mirror'],
  },
  { title: 'Time and retries', fields: ['timeout_ms', 'retry_count', 'retry'] },
  {
    title: 'Slow bodies',
    description: 'Waiting for the body of a request does not count towards the deadline.',
    fields: ['max_upload_ms', 'min_upload_bytes_per_second', 'body_idle_timeout_ms'],
  },
];

/** Every field of a route. */
export function RouteFields({ environment }: { readonly environment: string }) {
  const controls = {
    service_id: <TargetFields environment={environment} />,
    versions: null,
    respond: null,
    redirect: null,
    match: <MatchFields />,
    rewrite: <RewriteFields />,
    mirror: <MirrorFields environment={environment} />,
    auth: <AuthFields />,
    methods: <MethodsField />,
  };
  return <FormSections fields={ROUTE_FORM} sections={SECTIONS} controls={controls} />;
}
