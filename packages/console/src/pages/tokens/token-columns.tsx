import { Code, Group, Text } from '@mantine/core';
import type { Token } from '../../api/client.ts';
import type { Column } from '../../ui/data-table.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { ScopedButton } from '../../ui/scoped-button.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import classes from './tokens.module.css';

/** What a reader may do with a token. */
export type TokenAction = 'edit' | 'rotate' | 'revoke';

const ACTIONS = [
  ['edit', 'Edit'],
  ['rotate', 'Rotate'],
  ['revoke', 'Revoke'],
] as const;

/** The columns of the list of tokens. */
export function tokenColumns(
  nowMs: number,
  ownId: string | undefined,
  onAction: (action: TokenAction, token: Token) => void,
): readonly Column<Token>[] {
  return [
    {
      key: 'name',
      header: 'Name',
      cell: ({ id, name }) => (
        <>
          {name}
          {id === ownId && (
            <Text span size="xs" c="dimmed">
              {' '}
              (yours)
            </Text>
          )}
        </>
      ),
    },
    {
      key: 'scopes',
      header: 'Scopes',
      visibleFrom: 'sm',
      cell: ({ scopes }) => <Names names={scopes} all="all" />,
    },
    {
      key: 'environments',
      header: 'Environments',
      visibleFrom: 'md',
      cell: ({ environments }) => <Names names={environments} all="all" />,
    },
    {
      key: 'routes',
      header: 'Routes',
      visibleFrom: 'lg',
      cell: ({ routes }) => <Names names={routes} all="all" />,
    },
    {
      key: 'used',
      header: 'Last used',
      cell: ({ last_used_at: at }) => (at === null ? 'never' : <RelativeTime at={at} />),
    },
    {
      key: 'expires',
      header: 'Expires',
      visibleFrom: 'md',
      cell: ({ expires_at: at }) => {
        if (at === null) return 'never';
        return Date.parse(at) <= nowMs ? (
          <StatusBadge status="expired" />
        ) : (
          <RelativeTime at={at} />
        );
      },
    },
    {
      key: 'created',
      header: 'Created',
      visibleFrom: 'xl',
      cell: ({ created_at }) => <RelativeTime at={created_at} />,
    },
    {
      key: 'actions',
      header: 'Actions',
      cell: (token) => (
        <Group gap={4} className={classes.actions ?? ''}>
          {ACTIONS.map(([action, label]) => (
            <ScopedButton
              key={action}
              scope="tokens:write"
              size="compact-xs"
              variant="default"
              aria-label={`${label} ${token.name}`}
              onClick={() => onAction(action, token)}
            >
              {label}
            </ScopedButton>
          ))}
        </Group>
      ),
    },
  ];
}

const SHOWN = 3;

function Names({ names, all }: { readonly names: readonly string[]; readonly all: string }) {
  if (names.includes('*')) return all;
  const more = names.length - SHOWN;
  return (
    <Group gap={4}>
      {names.slice(0, SHOWN).map((name) => (
        <Code key={name} className={classes.name ?? ''}>
          {name}
        </Code>
      ))}
      {more > 0 && (
        <Text span size="xs" c="dimmed" title={names.slice(SHOWN).join(', ')}>
          and {more} more
        </Text>
      )}
    </Group>
  );
}
