import { Group, Radio, Stack } from '@mantine/core';
import { useState } from 'react';
import { useForm } from '../../ui/form/form-context.ts';
import { ServiceField } from '../../ui/form/service-field.tsx';
import { AnswerFields } from './answer-fields.tsx';
import { TARGET_FIELDS } from './route-draft.ts';
import { kindOf, targetOf, type Target, type TargetKind } from './target.ts';
import { VersionRows } from './version-rows.tsx';
import classes from './target-fields.module.css';

interface TargetFieldsProps {
  readonly environment: string;
}

/** Where requests go: one service, versions with weights, or nowhere, because the gateway answers itself. */
export function TargetFields({ environment }: TargetFieldsProps) {
  const { draft, set } = useForm();
  const { service_id = null, versions = null, respond = null, redirect = null } = draft;
  const target: Target = { service_id, versions, respond, redirect };
  const kind = kindOf(target);
  const [kept, setKept] = useState<Readonly<Partial<Record<TargetKind, Target>>>>({});

  function choose(chosen: string): void {
    if (chosen === kind) return;
    const next = targetOf(chosen as TargetKind, target, kept[chosen as TargetKind]);
    setKept({ ...kept, [kind]: target });
    for (const name of TARGET_FIELDS) set(name, next[name]);
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
      {(kind === 'respond' || kind === 'redirect') && <AnswerFields kind={kind} />}
      {kind === 'service' && (
        <div className={classes.service}>
          <ServiceField path="service_id" label="Service" environment={environment} />
        </div>
      )}
      {Array.isArray(versions) && <VersionRows versions={versions} environment={environment} />}
    </Stack>
  );
}
