import { changedResourcesText } from '@gateway/client/version-text';
import { Box, Group, Text } from '@mantine/core';
import type { ConfigVersion } from '../../api/client.ts';
import { useRight } from '../../api/rights.ts';
import { countedText } from '@gateway/client/measures';
import type { Column } from '../../ui/data-table.tsx';
import { LongText } from '../../ui/long-text.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import classes from './versions.module.css';

/**
 * Why a version was published.
 * @param seesAll whether the session covers all routes, so that a change that is not named is one of a token
 */
function reasonText(version: ConfigVersion, seesAll: boolean): string {
  const { reason, restored_version: restored, changes, changed_resources: named } = version;
  if (restored !== null) return `Rolled back to ${restored}`;
  if (reason !== 'changed') return reason;
  return countedText(changes, seesAll && named.length === 0 ? 'token change' : 'change');
}

/** How many resources a line names. */
const SHOWN_RESOURCES = 3;

/** What a version changed, in a line: `route charges: timeout_ms`. */
export function summaryText(version: ConfigVersion, seesAll: boolean): string {
  const changed = changedResourcesText(version, SHOWN_RESOURCES);
  const isRollback = version.restored_version !== null;
  return changed === '' || isRollback ? reasonText(version, seesAll) : changed;
}

/** What a version changed, and why it was published. */
function ChangesCell({ version }: { readonly version: ConfigVersion }) {
  const seesAll = useRight({ scope: [], allRoutes: true }).allowed;
  const changed = changedResourcesText(version, SHOWN_RESOURCES);
  const isRollback = version.restored_version !== null;
  if (changed === '' && !isRollback) return <Text c="dimmed">{reasonText(version, seesAll)}</Text>;
  return (
    <Group gap="xs">
      {isRollback && <StatusBadge status={reasonText(version, seesAll)} tone="yellow" />}
      <span>
        <LongText text={changed} what="list of changes" />
      </span>
    </Group>
  );
}

/** Who made the changes of a version. */
export function authorsText(ids: readonly string[], nameOf: (id: string) => string): string {
  return ids.length === 0 ? 'the gateway' : ids.map(nameOf).join(', ');
}

/** The columns of the list of versions. */
export function versionColumns(nameOf: (id: string) => string): readonly Column<ConfigVersion>[] {
  return [
    {
      key: 'version',
      header: 'Version',
      cell: ({ version, current, former, published_at: at }) => (
        <>
          <Group gap="xs" wrap="nowrap">
            <TextLink to="/configuration/$version" params={{ version: String(version) }} inherit>
              Version {version}
            </TextLink>
            {current && (
              <Box component="span" visibleFrom="sm">
                <StatusBadge status="current" />
              </Box>
            )}
            {former && <StatusBadge status="deleted environment" />}
          </Group>
          <Text size="xs" c="dimmed" fw={400} hiddenFrom="sm">
            {current && 'current, '}
            <RelativeTime at={at} />
          </Text>
        </>
      ),
    },
    {
      key: 'published',
      header: 'Published',
      visibleFrom: 'sm',
      cell: ({ published_at }) => <RelativeTime at={published_at} />,
    },
    { key: 'reason', header: 'Changes', cell: (version) => <ChangesCell version={version} /> },
    {
      key: 'by',
      header: 'By',
      visibleFrom: 'sm',
      cell: ({ changed_by }) => authorsText(changed_by, nameOf),
    },
    {
      key: 'actions',
      header: 'Actions',
      isHeaderHidden: true,
      visibleFrom: 'sm',
      align: 'right',
      cell: ({ version, current, former }) =>
        !current &&
        !former && (
          <TextLink
            to="/configuration/$version/roll-back"
            params={{ version: String(version) }}
            inherit
            className={classes.rollBack ?? ''}
            aria-label={`Roll back to version ${version}`}
          >
            Roll back
          </TextLink>
        ),
    },
  ];
}
