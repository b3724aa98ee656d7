import { lostWithRoute } from '@gateway/client/lost-traffic';
import { Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { errorText } from '../../ui/error-text.ts';
import { LastHour } from '../../ui/last-hour.tsx';
import { LostTraffic } from '../../ui/lost-traffic.tsx';
import { notifyFailure, notifySuccess } from '../../ui/notify.ts';
import { ScopedMenu } from '../../ui/scoped-menu.tsx';
import { ScopedButton } from '../../ui/scoped-button.tsx';
import { notifyWithUndo } from '../../ui/undo.tsx';
import { SendButton } from '../send/send-button.tsx';
import { deleteRoute, patchRoute, routeQuery, type RouteReading } from './route-query.ts';
import { routeQuestion } from './route-question.tsx';

/** The buttons of a route: edit, disable or enable, delete. */
export function RouteActions({ route, etag }: RouteReading) {
  const { id, name, environment } = route;
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const [asked, setAsked] = useState<'disable' | 'delete'>();
  const close = (): void => setAsked(undefined);
  const isActive = route.status === 'active';

  async function become(status: 'active' | 'disabled'): Promise<void> {
    const saved = await patchRoute(queryClient, id, { status }, etag);
    const other = status === 'active' ? 'disabled' : 'active';
    notifyWithUndo(`Route ${name} is ${status}.`, {
      done: `Route ${name} is ${other} again.`,
      run: () => patchRoute(queryClient, id, { status: other }, saved.etag),
    });
  }

  const enabling = useMutation({
    mutationFn: () => become('active'),
    onError: (error) => {
      notifyFailure(`Route ${name} was not changed. ${errorText(error)}`);
      void queryClient.invalidateQueries({ queryKey: routeQuery(id).queryKey });
    },
  });

  async function disable(): Promise<void> {
    try {
      await become('disabled');
    } catch (error) {
      void queryClient.invalidateQueries({ queryKey: routeQuery(id).queryKey });
      throw error;
    }
  }

  async function remove(): Promise<void> {
    await deleteRoute(id, etag);
    notifySuccess(`Route ${name} was deleted.`);
    await navigate({ to: '/routes' });
    queryClient.removeQueries({ queryKey: routeQuery(id).queryKey });
    void queryClient.invalidateQueries({ queryKey: ['routes'] });
  }

  const disabling = routeQuestion(route, { ...route, status: 'disabled' }, (one) => one);
  return (
    <>
      <SendButton route={route} />
      <ScopedButton
        scope="routes:write"
        variant="default"
        onClick={() => void navigate({ to: '/routes/$routeId/edit', params: { routeId: id } })}
      >
        Edit
      </ScopedButton>
      <ScopedButton
        scope="routes:write"
        variant="default"
        loading={enabling.isPending}
        onClick={() => (isActive ? setAsked('disable') : enabling.mutate())}
      >
        {isActive ? 'Disable' : 'Enable'}
      </ScopedButton>
      <ScopedMenu
        label="More actions"
        scope="routes:write"
        items={[{ label: 'Delete', isDangerous: true, run: () => setAsked('delete') }]}
      />
      <ConfirmDialog
        opened={asked === 'disable'}
        onClose={close}
        title={`Disable route ${name}?`}
        action="Disable"
        onConfirm={disable}
      >
        {disabling?.body}
      </ConfirmDialog>
      <ConfirmDialog
        opened={asked === 'delete'}
        onClose={close}
        title={`Delete route ${name}?`}
        name={name}
        action="Delete"
        onConfirm={remove}
      >
        <Stack gap="xs">
          <LastHour subject={`route ${name}`} filter={{ environment, route: name }} />
          <LostTraffic lost={lostWithRoute(route)} route={name} />
          <Text size="sm">Records of its requests are kept.</Text>
        </Stack>
      </ConfirmDialog>
    </>
  );
}
