import { Group, Radio, Stack } from '@mantine/core';
import { useField } from '../../ui/form/form-context.ts';
import { ServiceField } from '../../ui/form/service-field.tsx';
import { AnswerFields, NEW_ANSWERS } from './answer-fields.tsx';
import { VersionRows } from './version-rows.tsx';

interface TargetFieldsProps {
  readonly environment: string;
}

/** Where requests go: one service, versions with weights, or nowhere, because the gateway answers itself. */
export function TargetFields({ environment }: TargetFieldsProps) {
  const service = useField('service_id');
  const versions = useField('versions');
  const respond = useField('respond');
  const redirect = useField('redirect');
  const list = Array.isArray(versions.value) ? (versions.value as readonly unknown[]) : undefined;
  const answer = isGiven(respond) ? 'respond' : isGiven(redirect) ? 'redirect' : undefined;
  const kind = answer ?? (list === undefined ? 'service' : 'versions');

  function choose(chosen: string): void {
    if (chosen === kind) return;
    const first: unknown = list?.[0];
    service.set(chosen === 'service' ? serviceOf(first) : null);
    const version = { name: 'v1', service_id: service.value ?? undefined, weight: 100 };
    versions.set(chosen === 'versions' ? [version] : null);
    respond.set(chosen === 'respond' ? NEW_ANSWERS.respond : null);
    redirect.set(chosen === 'redirect' ? NEW_ANSWERS.redirect : null);
  }

  return (
    <Stack gap="sm">
      <Radio.Group label="Requests go to" value={kind} onChange={choose}>
        <Group gap="lg" pt="xs">
          <Radio value="service" label="One service" />
          <Radio value="versions" label="Versions, by weight" />
          <Radio value="respond" label="A fixed answer" />
          <Radio value="redirect" label="A redirect" />
        </Group>
      </Radio.Group>
      {answer !== undefined && <AnswerFields kind={answer} />}
      {kind === 'service' && (
        <ServiceField path="service_id" label="Service" environment={environment} />
      )}
      {list !== undefined && <VersionRows versions={list} environment={environment} />}
    </Stack>
  );
}

function isGiven({ value }: { readonly value: unknown }): boolean {
  return typeof value === 'object' && value !== null;
}

function serviceOf(version: unknown): unknown {
  if (typeof version !== 'object' || version === null || !('service_id' in version)) return null;
  return version.service_id;
}
