import { ROUTE_FORM } from '@gateway/client/form-fields';
import { Code, Stack } from '@mantine/core';
import { useField } from '../../ui/form/form-context.ts';
import { FormSections } from '../../ui/form/form-sections.tsx';
import { visibleText } from '../../ui/visible-text.ts';
import { AuthFields, MethodsField } from './caller-fields.tsx';
import { MatchFields } from './match-fields.tsx';
import { RewriteFields } from './rewrite-fields.tsx';
import { MirrorFields } from './mirror-fields.tsx';
import { ownRoute } from './route-draft.ts';
import { defaultsSentence, FIRST_SECTIONS, FOLDED_SECTIONS } from './route-sections.ts';
import { TargetFields } from './target-fields.tsx';

interface RouteFieldsProps {
  readonly environment: string;
  /** The route does not exist yet. */
  readonly isNew?: boolean;
}

/** Every field of a route. */
export function RouteFields({ environment, isNew = false }: RouteFieldsProps) {
  const controls = {
    service_id: <TargetFields environment={environment} />,
    versions: null,
    respond: null,
    redirect: null,
    match: (
      <Stack gap="sm">
        <ProxyPath />
        <MatchFields />
      </Stack>
    ),
    rewrite: <RewriteFields />,
    mirror: <MirrorFields environment={environment} />,
    auth: <AuthFields />,
    methods: <MethodsField />,
  };
  return (
    <FormSections
      fields={ROUTE_FORM}
      first={FIRST_SECTIONS}
      rest="Policies"
      about={defaultsSentence()}
      folded={FOLDED_SECTIONS}
      controls={controls}
      own={ownRoute}
      isNew={isNew}
    />
  );
}

/** The path at which every route is reached. */
function ProxyPath() {
  const { value } = useField('name');
  const name = typeof value === 'string' && value !== '' ? value : '…';
  return (
    <Code w="max-content" maw="100%">
      {visibleText(`/v1/proxy/${name}`)}
    </Code>
  );
}
