import { Stack, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import type { Token } from '../../api/client.ts';
import { environmentsQuery } from '../../api/environments.ts';
import { useCaller } from '../../api/rights.ts';
import { useNamesOfTokens } from '../../api/token-names.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Empty } from '../../ui/empty.tsx';
import { notifySuccess } from '../../ui/notify.ts';
import { useNow } from '../../ui/now.ts';
import { Page } from '../../ui/page.tsx';
import { PagedTable } from '../../ui/paged-table.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { ScopedButton } from '../../ui/scoped-button.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { withCursor } from '../../ui/with-cursor.ts';
import { EditToken } from './edit-token.tsx';
import { NewToken } from './new-token.tsx';
import { RotateToken } from './rotate-token.tsx';
import { tokenColumns, type TokenAction } from './token-columns.tsx';
import { TokenFilters } from './token-filters.tsx';
import { revokeToken, tokensQuery } from './tokens-query.ts';
import { hasFilters, type TokenFilter, type TokenOrder } from './tokens-search.ts';
import { withFilters } from '../list-search.ts';

const route = getRouteApi('/app/tokens');

interface Doing {
  readonly action: TokenAction;
  readonly token: Token;
}

/** The tokens of all environments, without secrets. */
export function TokensPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const queryClient = useQueryClient();
  const query = useQuery(tokensQuery(search));
  const { data: environments = [] } = useQuery(environmentsQuery);
  const nameOf = useNamesOfTokens((query.data?.data ?? []).map((one) => one.created_by));
  const ownId = useCaller()?.id;
  const nowMs = useNow();
  const [isCreating, setCreating] = useState(false);
  const [doing, setDoing] = useState<Doing>();
  const close = (): void => setDoing(undefined);
  const filter = (change: TokenFilter): void =>
    void navigate({ search: (now) => withFilters(now, change), replace: true });
  const isOwn = doing !== undefined && doing.token.id === ownId;

  async function revoke(id: string): Promise<void> {
    await revokeToken(id);
    notifySuccess('The token was revoked.');
    void queryClient.invalidateQueries({ queryKey: ['tokens'] });
  }

  return (
    <Page
      title="Tokens"
      actions={
        <ScopedButton scope="tokens:write" onClick={() => setCreating(true)}>
          New token
        </ScopedButton>
      }
    >
      <TokenFilters search={search} environments={environments} onChange={filter} />
      <PagedTable
        label="Tokens"
        columns={tokenColumns({
          nowMs,
          ownId,
          nameOf,
          onAction: (action, token) => setDoing({ action, token }),
        })}
        query={query}
        rowKey={({ id }) => id}
        hasLinkedRows
        order={search.order ?? 'name'}
        onOrder={(order) => filter({ order: order as TokenOrder })}
        empty={
          hasFilters(search) ? (
            <Empty title="No token matches">
              <TextLink to="/tokens">Show all tokens</TextLink>
            </Empty>
          ) : (
            <Empty title="No tokens">A token lets a program call routes or this API.</Empty>
          )
        }
        cursor={search.cursor}
        onMove={(to) => void navigate({ search: (now) => withCursor(now, to) })}
      />
      <NewToken opened={isCreating} onClose={() => setCreating(false)} />
      {doing?.action === 'edit' && <EditToken token={doing.token} onClose={close} />}
      {doing?.action === 'rotate' && (
        <RotateToken token={doing.token} isOwn={isOwn} onClose={close} />
      )}
      {doing?.action === 'revoke' && (
        <ConfirmDialog
          opened
          onClose={close}
          title={`Revoke token ${doing.token.name}?`}
          name={doing.token.name}
          action="Revoke"
          onConfirm={() => revoke(doing.token.id)}
        >
          <Stack gap="xs">
            <Text size="sm" fw={600}>
              {doing.token.last_used_at === null ? (
                'It was never used.'
              ) : (
                <>
                  It was last used <RelativeTime at={doing.token.last_used_at} />.
                </>
              )}
            </Text>
            <Text size="sm">
              Callers with this token are refused from now on. It cannot be restored.
              {isOwn && ' You are signed in with it, so your session ends as well.'}
            </Text>
          </Stack>
        </ConfirmDialog>
      )}
    </Page>
  );
}
