import { Paper, Stack, Text, Title } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Route } from '../../../api/client.ts';
import { useScope } from '../../../api/rights.ts';
import { serviceNamesQuery } from '../../../api/service-names.ts';
import type { Draft } from '../../../ui/form/draft.ts';
import { useField } from '../../../ui/form/form-context.ts';
import { ResourceForm, type Reading } from '../../../ui/form/resource-form.tsx';
import { notifyWithUndo } from '../../../ui/undo.tsx';
import { routeQuestion } from '../route-question.tsx';
import { patchRoute, readRoute, type RouteReading } from '../route-query.ts';
import { movedWeights } from './moved-weights.ts';
import { splitQuery } from './split-query.ts';
import { VersionRow } from './version-row.tsx';

type Versions = NonNullable<Route['versions']>;

/** The versions of a route with a slider for each weight. */
export function SplitPanel({ route, etag }: RouteReading) {
  const queryClient = useQueryClient();
  const canWrite = useScope('routes:write');
  // While a slider is moved, what the page reads in the background changes nothing.
  const [held, setHeld] = useState<RouteReading>();
  const [edition, setEdition] = useState(0);
  const shown = held ?? { route, etag };
  const { id, name } = route;

  function release(): void {
    setHeld(undefined);
    setEdition((count) => count + 1);
  }

  async function save(changes: object, ifMatch: string | undefined, before: Draft): Promise<void> {
    const saved = await patchRoute(queryClient, id, changes, ifMatch);
    notifyWithUndo(`The weights of ${name} were saved.`, {
      done: `The weights of ${name} are as before.`,
      run: () => patchRoute(queryClient, id, before, saved.etag),
    });
    release();
  }

  return (
    <Paper component="section" withBorder p="md" aria-label="Traffic split">
      <Title order={2} size="h5">
        Traffic split
      </Title>
      <Text size="sm" c="dimmed" mb="md">
        {canWrite.reason ??
          'Each caller stays with a version, so few callers may be split otherwise than the weights say.'}
      </Text>
      <ResourceForm
        key={`${shown.etag} ${edition}`}
        label="Traffic split"
        reading={readingOf(shown)}
        onSave={save}
        onRead={async () => readingOf(await readRoute(id))}
        onCancel={release}
        askBefore={(before, after) =>
          routeQuestion({ ...route, ...before }, { ...route, ...after }, (one) => one)
        }
        isQuiet
      >
        <VersionRows
          route={shown.route}
          isEditable={canWrite.allowed}
          onTouch={() => setHeld((before) => before ?? shown)}
        />
      </ResourceForm>
    </Paper>
  );
}

function readingOf({ route, etag }: RouteReading): Reading {
  return { draft: { versions: route.versions }, etag };
}

interface VersionRowsProps {
  readonly route: Route;
  readonly isEditable: boolean;
  readonly onTouch: () => void;
}

function VersionRows({ route, isEditable, onTouch }: VersionRowsProps) {
  const { value, set } = useField('versions');
  // Somebody else may have replaced the versions by one service since the page was read.
  const versions = Array.isArray(value) ? (value as Versions) : [];
  const names = versions.map((one) => one.name);
  const { allowed } = useScope('requests:read');
  const { data: split } = useQuery({ ...splitQuery(route, names), enabled: allowed });
  const { data: services = [] } = useQuery(serviceNamesQuery(route.environment));
  return (
    <Stack gap="md">
      {versions.map((version, index) => (
        <VersionRow
          key={version.name}
          version={version}
          versions={versions}
          serviceName={
            services.find((one) => one.id === version.service_id)?.name ?? version.service_id
          }
          split={split}
          isEditable={isEditable}
          onMove={(weight) => {
            onTouch();
            set(movedWeights(versions, index, weight));
          }}
        />
      ))}
    </Stack>
  );
}
