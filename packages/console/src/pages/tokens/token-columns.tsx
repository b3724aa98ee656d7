import { Text } from '@mantine/core';
import { tokenState } from '@gateway/shared/tokens/token-states';
import type { Token } from '../../api/client.ts';
import { useScope } from '../../api/rights.ts';
import type { Column } from '../../ui/data-table.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { ScopedMenu } from '../../ui/scoped-menu.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { presetOf } from './presets.ts';
import { STATE_NAMES } from './state-names.ts';
import classes from './tokens.module.css';

/** What a reader may do with a token. */
export type TokenAction = 'edit' | 'rotate' | 'revoke';

interface ColumnParts {
  readonly nowMs: number;
  /** The token of the session. */
  readonly ownId: string | undefined;
  readonly nameOf: (id: string) => string;
  readonly onAction: (action: TokenAction, token: Token) => void;
}

/** The columns of the list of tokens. */
export function tokenColumns({
  nowMs,
  ownId,
  nameOf,
  onAction,
}: ColumnParts): readonly Column<Token>[] {
  return [
    {
      key: 'name',
      header: 'Name',
      order: 'name',
      cell: (token) => (
        <>
          <TokenName token={token} onEdit={() => onAction('edit', token)} />
          {token.id === ownId && (
            <Text span size="xs" c="dimmed">
              {' '}
              (yours)
            </Text>
          )}
          <Text size="xs" c="dimmed" fw={400} hiddenFrom="sm">
            {token.last_used_at === null ? 'never used' : <UsedAgo at={token.last_used_at} />}
          </Text>
        </>
      ),
    },
    {
      key: 'state',
      header: 'State',
      cell: (token) => {
        const state = tokenState(token, nowMs);
        return (
          <span title={STATE_NAMES[state]}>
            <StatusBadge status={state} />
          </span>
        );
      },
    },
    {
      key: 'secret',
      header: 'Secret',
      visibleFrom: 'lg',
      cell: ({ secret_prefix: prefix }) =>
        prefix === null ? (
          <Text span c="dimmed" inherit title="It is not known.">
            –
          </Text>
        ) : (
          <code className={classes.prefix}>{prefix}…</code>
        ),
    },
    {
      key: 'scopes',
      header: 'May do',
      visibleFrom: 'sm',
      cell: ({ scopes }) => <Scopes scopes={scopes} />,
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
      order: 'last_used_at',
      isLargestFirst: true,
      visibleFrom: 'sm',
      cell: ({ last_used_at: at }) =>
        at === null ? (
          <Text span c="dimmed" inherit>
            never
          </Text>
        ) : (
          <RelativeTime at={at} />
        ),
    },
    {
      key: 'expires',
      header: 'Expires',
      order: 'expires_at',
      visibleFrom: 'md',
      cell: ({ expires_at: at }) =>
        at === null ? (
          <Text span c="dimmed" inherit>
            never
          </Text>
        ) : (
          <RelativeTime at={at} />
        ),
    },
    {
      key: 'created',
      header: 'Created by',
      visibleFrom: 'xl',
      cell: ({ created_by: maker, created_at }) => (
        <>
          {maker === null ? 'the gateway' : nameOf(maker)}{' '}
          <Text span c="dimmed" inherit>
            <RelativeTime at={created_at} />
          </Text>
        </>
      ),
    },
    {
      key: 'actions',
      header: 'Actions',
      isHeaderHidden: true,
      align: 'right',
      cell: (token) => (
        <ScopedMenu
          label={`Actions of ${token.name}`}
          scope="tokens:write"
          isSmall
          items={[
            { label: 'Edit', run: () => onAction('edit', token) },
            { label: 'Rotate secret', run: () => onAction('rotate', token) },
            { label: 'Revoke', isDangerous: true, run: () => onAction('revoke', token) },
          ]}
        />
      ),
    },
  ];
}

interface TokenNameProps {
  readonly token: Token;
  readonly onEdit: () => void;
}

/** Opens what can be changed of a token, for those who may change it. */
function TokenName({ token: { name }, onEdit }: TokenNameProps) {
  if (!useScope('tokens:write').allowed) return name;
  return (
    <button type="button" onClick={onEdit} title="Edit">
      {name}
    </button>
  );
}

function UsedAgo({ at }: { readonly at: string }) {
  return (
    <>
      used <RelativeTime at={at} />
    </>
  );
}

function Scopes({ scopes }: { readonly scopes: readonly string[] }) {
  const preset = presetOf(scopes);
  if (preset === undefined) return <Names names={scopes} all="everything" />;
  return <span title={scopes.join(', ')}>{preset.label}</span>;
}

/** What a column has room for on a laptop. */
const SHOWN_CHARS = 22;

interface NamesProps {
  readonly names: readonly string[];
  /** What stands for `*`. */
  readonly all: string;
}

/** The first names in one line; all of them under the pointer. */
function Names({ names, all }: NamesProps) {
  if (names.includes('*')) return all;
  const fit = names.filter((_name, at) => names.slice(0, at + 1).join(', ').length <= SHOWN_CHARS);
  const shown = Math.max(1, fit.length);
  const more = names.length - shown;
  return (
    <span className={classes.names} title={names.join(', ')}>
      <span className={classes.name}>{names.slice(0, shown).join(', ')}</span>
      {more > 0 && (
        <Text span size="xs" c="dimmed">
          and {more} more
        </Text>
      )}
    </span>
  );
}
