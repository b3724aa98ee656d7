import { Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { LastHour } from '../../ui/last-hour.tsx';
import { notifySuccess } from '../../ui/notify.ts';
import { ScopedButton } from '../../ui/scoped-button.tsx';
import { ScopedMenu } from '../../ui/scoped-menu.tsx';
import { deleteService, serviceQuery, type ServiceReading } from './service-query.ts';

/** The buttons of a service: edit, delete. */
export function ServiceActions({ service, etag }: ServiceReading) {
  const { id, name, environment } = service;
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const [isAsking, asking] = useDisclosure(false);

  async function remove(): Promise<void> {
    await deleteService(id, etag);
    notifySuccess(`Service ${name} was deleted.`);
    await navigate({ to: '/services' });
    queryClient.removeQueries({ queryKey: serviceQuery(id).queryKey });
    void queryClient.invalidateQueries({ queryKey: ['services'] });
  }

  return (
    <>
      <ScopedButton
        scope="services:write"
        variant="default"
        onClick={() =>
          void navigate({ to: '/services/$serviceId/edit', params: { serviceId: id } })
        }
      >
        Edit
      </ScopedButton>
      <ScopedMenu
        label="More actions"
        scope="services:write"
        items={[{ label: 'Delete', isDangerous: true, run: asking.open }]}
      />
      <ConfirmDialog
        opened={isAsking}
        onClose={asking.close}
        title={`Delete service ${name}?`}
        name={name}
        action="Delete"
        onConfirm={remove}
      >
        <Stack gap="xs">
          <LastHour subject={`service ${name}`} filter={{ environment, service_id: id }} />
          <Text size="sm">A service that a route uses cannot be deleted.</Text>
        </Stack>
      </ConfirmDialog>
    </>
  );
}
