import { lossText, lostTraffic } from '@gateway/client/lost-traffic';
import { Stack, Text } from '@mantine/core';
import type { Route } from '../../api/client.ts';
import type { FormQuestion } from '../../ui/form/resource-form.tsx';
import { LastHour } from '../../ui/last-hour.tsx';

/**
 * What is asked before a change of a route after which callers get 404, or a service gets none of its requests any
 * more; undefined: nothing.
 */
export function routeQuestion(
  before: Route,
  after: Route,
  serviceName: (id: string) => string,
): FormQuestion | undefined {
  const lost = lostTraffic(before, after);
  if (lost === undefined) return undefined;
  const { name, environment } = before;
  const action =
    lost.kind === 'moved' ? 'Move' : after.status === 'disabled' ? 'Disable' : 'Rename';
  return {
    title: action === 'Move' ? `Move the requests of ${name}?` : `${action} ${name}?`,
    action,
    body: (
      <Stack gap="xs">
        <LastHour subject={`route ${name}`} filter={{ environment, route: name }} />
        <Text size="sm">{lossText(lost, name, serviceName)}</Text>
      </Stack>
    ),
  };
}
