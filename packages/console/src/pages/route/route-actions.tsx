import { Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { ConfirmByName } from '../../ui/confirm-by-name.tsx';
import { errorText } from '../../ui/error-text.ts';
import { notifyFailure, notifySuccess } from '../../ui/notify.ts';
import { ScopedButton } from '../../ui/scoped-button.tsx';
import { deleteRoute, patchRoute, routeQuery, type RouteReading } from './route-query.ts';

/** The buttons of a route: edit, disable or enable, delete. */
export function RouteActions({ route, etag }: RouteReading) {
  const { id, name, status } = route;
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const [isAsking, asking] = useDisclosure(false);
  const isActive = status === 'active';
  const switching = useMutation({
    mutationFn: () =>
      patchRoute(queryClient, id, { status: isActive ? 'disabled' : 'active' }, etag),
    onSuccess: (saved) => notifySuccess(`Route ${name} is ${saved.route.status}.`),
    onError: (error) => {
      notifyFailure(`Route ${name} was not changed. ${errorText(error)}`);
      void queryClient.invalidateQueries({ queryKey: routeQuery(id).queryKey });
    },
  });

  async function remove(): Promise<void> {
    await deleteRoute(id, etag);
    notifySuccess(`Route ${name} was deleted.`);
    await navigate({ to: '/routes' });
    queryClient.removeQueries({ queryKey: routeQuery(id).queryKey });
    void queryClient.invalidateQueries({ queryKey: ['routes'] });
  }

  return (
    <>
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
        loading={switching.isPending}
        onClick={() => switching.mutate()}
      >
        {isActive ? 'Disable' : 'Enable'}
      </ScopedButton>
      <ScopedButton
        scope="routes:write"
        variant="default"
        c="var(--mantine-color-error)"
        onClick={asking.open}
      >
        Delete
      </ScopedButton>
      <ConfirmByName
        opened={isAsking}
        onClose={asking.close}
        title={`Delete route ${name}?`}
        name={name}
        action="Delete"
        onConfirm={remove}
      >
        <Text size="sm" inherit>
          Requests to /v1/proxy/{name} get 404 from then on. Records of its requests are kept.
        </Text>
      </ConfirmByName>
    </>
  );
}
