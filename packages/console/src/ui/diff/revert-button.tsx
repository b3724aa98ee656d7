import { lostServices, lostTraffic } from '@gateway/client/lost-traffic';
import { revertFault, revertOf, type RevertibleChange } from '@gateway/client/revert';
import { Stack } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { gateway, ifMatch, type Route } from '../../api/client.ts';
import { useNamesOfServices } from '../../api/service-names.ts';
import { ConfirmDialog } from '../confirm-dialog.tsx';
import { RefusedError } from '../error-text.ts';
import { LastHour } from '../last-hour.tsx';
import { LostTraffic } from '../lost-traffic.tsx';
import { notifySuccess } from '../notify.ts';
import { ScopedButton } from '../scoped-button.tsx';
import { ResourceDiff } from './resource-diff.tsx';

interface RevertButtonProps {
  readonly change: RevertibleChange & { readonly resource_id: string };
}

/** Reverts one change of a service or a route, after it has shown what that changes. Nothing if it cannot be reverted. */
export function RevertButton({ change }: RevertButtonProps) {
  const [isAsking, setAsking] = useState(false);
  const queryClient = useQueryClient();
  const { resource_type: type, before, after } = change;
  const environment = String(after?.['environment']);
  const lost =
    type === 'route' && isAsking
      ? lostTraffic(after as unknown as Route, before as unknown as Route)
      : undefined;
  const serviceName = useNamesOfServices(lostServices(lost));
  if (revertFault(change) !== undefined || before === null || after === null) return null;
  const name = String(after['name']);

  async function revert(): Promise<void> {
    await (type === 'route' ? revertRoute(change) : revertService(change));
    notifySuccess(`The change of ${type} ${name} was reverted.`);
    void queryClient.invalidateQueries();
  }

  return (
    <>
      <ScopedButton
        scope={type === 'route' ? 'routes:write' : 'services:write'}
        size="compact-xs"
        variant="default"
        aria-label={`Revert the change of ${type} ${name}`}
        onClick={() => setAsking(true)}
      >
        Revert
      </ScopedButton>
      <ConfirmDialog
        opened={isAsking}
        onClose={() => setAsking(false)}
        title={`Revert this change of ${type} ${name}?`}
        action="Revert"
        isWide
        onConfirm={revert}
      >
        <Stack gap="xs">
          <ResourceDiff before={after} after={before} />
          <LastHour
            subject={`${type} ${name}`}
            filter={{
              environment,
              ...(type === 'route' ? { route: name } : { service_id: change.resource_id }),
            }}
          />
          {lost !== undefined && <LostTraffic lost={lost} route={name} serviceName={serviceName} />}
        </Stack>
      </ConfirmDialog>
    </>
  );
}

/** @throws Error that says why it was not reverted; ApiError, ConnectionError */
async function revertRoute(change: RevertButtonProps['change']): Promise<void> {
  const path = { id: change.resource_id };
  const { body, etag } = await gateway.get('/v1/routes/{id}', { params: { path } });
  const params = { path, header: ifMatch(etag) };
  await gateway.patch('/v1/routes/{id}', { params, body: bodyOf(change, body.data) });
}

/** @throws as `revertRoute` */
async function revertService(change: RevertButtonProps['change']): Promise<void> {
  const path = { id: change.resource_id };
  const { body, etag } = await gateway.get('/v1/services/{id}', { params: { path } });
  const params = { path, header: ifMatch(etag) };
  await gateway.patch('/v1/services/{id}', { params, body: bodyOf(change, body.data) });
}

function bodyOf(change: RevertibleChange, current: object): Record<string, unknown> {
  const revert = revertOf(change, current as Record<string, unknown>);
  if (revert.refused !== undefined) throw new RefusedError(revert.refused);
  return revert.body;
}
