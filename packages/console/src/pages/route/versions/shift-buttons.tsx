import { Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Route } from '../../../api/client.ts';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { LastHour } from '../../../ui/last-hour.tsx';
import { ScopedButton } from '../../../ui/scoped-button.tsx';
import { Comparison } from './comparison.tsx';
import { shareOf, withShare } from './shares.ts';
import type { Versions } from './shares.ts';
import { versionTrafficQuery } from './versions-query.ts';

interface ShiftButtonsProps {
  readonly route: Route;
  readonly versions: Versions;
  readonly onShift: (versions: readonly Versions[number][]) => Promise<void>;
}

/** Gives all requests to the new version, or takes them back to the one before it. Nothing if there is one version. */
export function ShiftButtons({ route, versions, onShift }: ShiftButtonsProps) {
  const [asked, setAsked] = useState<'promote' | 'back'>();
  const last = versions.length - 1;
  const [stable, canary] = [versions[0], versions[last]];
  const { data } = useQuery({
    ...versionTrafficQuery(route, 15, false),
    enabled: asked !== undefined,
  });
  if (stable === undefined || canary === undefined || last < 1) return null;
  const close = (): void => setAsked(undefined);
  const share = shareOf(versions, last);
  const target = asked === 'back' ? stable : canary;
  const others = versions.filter((one) => one !== target).map(({ name }) => name);
  const tried = data?.groups.find(({ value }) => value === target.name);
  const isUntried = data !== undefined && (tried?.requests ?? 0) === 0;
  return (
    <Group gap="xs">
      {share > 0 && (
        <ScopedButton scope="routes:write" variant="default" onClick={() => setAsked('back')}>
          Roll back to {stable.name}
        </ScopedButton>
      )}
      {share < 100 && (
        <ScopedButton scope="routes:write" onClick={() => setAsked('promote')}>
          Promote {canary.name}
        </ScopedButton>
      )}
      <ConfirmDialog
        opened={asked !== undefined}
        onClose={close}
        title={
          asked === 'back'
            ? `Roll ${route.name} back to ${stable.name}?`
            : `Promote ${canary.name}?`
        }
        action={asked === 'back' ? 'Roll back' : 'Promote'}
        isWide
        isHarmless={asked !== 'back'}
        onConfirm={() => onShift(withShare(versions, asked === 'back' ? 0 : last, 100))}
      >
        <LastHour
          subject={`route ${route.name}`}
          filter={{ environment: route.environment, route: route.name }}
        />
        <Text mb="xs">
          {target.name} gets all requests, {others.join(' and ')} none.
        </Text>
        {isUntried && (
          <Text mb="xs" fw={500}>
            {target.name} had no requests in the last 15 minutes: nothing is known of how it does.
          </Text>
        )}
        {data !== undefined && <Comparison versions={versions} statistics={data} />}
      </ConfirmDialog>
    </Group>
  );
}
