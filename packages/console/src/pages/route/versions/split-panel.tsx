import { ROUTE_FORM } from '@gateway/client/form-fields';
import { Group, Paper, Text, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useScope } from '../../../api/rights.ts';
import type { Draft } from '../../../ui/form/draft.ts';
import { ResourceForm, type Reading } from '../../../ui/form/resource-form.tsx';
import { notifyWithUndo } from '../../../ui/undo.tsx';
import { patchRoute, readRoute, type RouteReading } from '../route-query.ts';
import { routeQuestion } from '../route-question.tsx';
import { ShareFields } from './share-fields.tsx';
import type { Versions } from './shares.ts';
import { ShiftButtons } from './shift-buttons.tsx';

interface SplitPanelProps extends RouteReading {
  readonly versions: Versions;
}

/** The shares of the versions: set by hand, by steps, or at once. */
export function SplitPanel({ route, etag, versions }: SplitPanelProps) {
  const queryClient = useQueryClient();
  const canWrite = useScope('routes:write');
  // While a share is set, what the page reads in the background changes nothing.
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
    <Paper component="section" withBorder p="sm" aria-label="Traffic split">
      <Group justify="space-between" gap="xs" mb="sm">
        <div>
          <Title order={2}>Traffic split</Title>
          <Text c="dimmed">
            {canWrite.reason ??
              'Each caller stays with a version, so few callers may be split otherwise than the weights say.'}
          </Text>
        </div>
        <ShiftButtons
          route={route}
          versions={versions}
          onShift={(shifted) => save({ versions: shifted }, etag, { versions })}
        />
      </Group>
      <ResourceForm
        key={`${shown.etag} ${edition}`}
        label="Traffic split"
        fields={ROUTE_FORM}
        reading={readingOf(shown)}
        onSave={save}
        onRead={async () => readingOf(await readRoute(id))}
        onCancel={release}
        askBefore={(before, after) =>
          routeQuestion({ ...route, ...before }, { ...route, ...after }, (one) => one)
        }
        isQuiet
      >
        <ShareFields
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
