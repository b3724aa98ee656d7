import { lostTraffic, type LostTraffic as Lost } from '@gateway/client/lost-traffic';
import { Stack } from '@mantine/core';
import type { Route } from '../../api/client.ts';
import type { FormQuestion } from '../../ui/form/resource-form.tsx';
import { LastHour } from '../../ui/last-hour.tsx';
import { LostTraffic } from '../../ui/lost-traffic.tsx';

/**
 * What is asked before a change of a route after which callers get 404, a host or path does not lead to it any more, or a
 * service gets none of its requests any more; undefined: nothing.
 */
export function routeQuestion(
  before: Route,
  after: Route,
  serviceName: (id: string) => string,
): FormQuestion | undefined {
  const lost = lostTraffic(before, after);
  if (lost === undefined) return undefined;
  const { name, environment } = before;
  const { title, action } = wordsFor(lost, name, after);
  return {
    title,
    action,
    body: (
      <Stack gap="xs">
        <LastHour subject={`route ${name}`} filter={{ environment, route: name }} />
        <LostTraffic lost={lost} route={name} serviceName={serviceName} />
      </Stack>
    ),
  };
}

function wordsFor(lost: Lost, name: string, after: Route) {
  switch (lost.kind) {
    case 'moved':
      return { title: `Move the requests of route ${name}?`, action: 'Move' };
    case 'unreached':
      return { title: `Remove hosts or paths of route ${name}?`, action: 'Remove' };
    case 'refused': {
      const action = after.status === 'disabled' ? 'Disable' : 'Rename';
      return { title: `${action} route ${name}?`, action };
    }
  }
}
