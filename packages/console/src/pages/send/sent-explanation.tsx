import type { components } from '@gateway/client';
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { gateway } from '../../api/client.ts';
import { LoadError } from '../../ui/load-error.tsx';
import { Loading } from '../../ui/loading.tsx';
import { ExplanationView } from '../route/explain/explanation-view.tsx';
import type { SendResponse } from './send-call.ts';
import { explainedRequest, type SendDraft, type SentRoute } from './send-draft.ts';

interface SentExplanationProps {
  readonly route: SentRoute;
  readonly draft: SendDraft;
  readonly token: SendResponse['token'];
}

/** What a data plane would do now with the request that was sent. */
export function SentExplanation({ route, draft, token }: SentExplanationProps) {
  const body = explainedRequest(
    draft,
    token?.id ?? null,
  ) as components['schemas']['ExplainQuestion'];
  const { data, error, refetch } = useQuery({
    queryKey: ['send', 'explain', route.id, body],
    queryFn: async ({ signal }) => {
      const params = { path: { id: route.id } };
      return (await gateway.post('/v1/routes/{id}/explain', { params, body, signal })).body.data;
    },
    enabled: draft.token !== 'given',
    // What was typed must not stay in memory after the panel is closed.
    gcTime: 0,
  });
  if (draft.token === 'given') {
    return (
      <Text c="dimmed">
        A request with a pasted token is not explained, because nobody keeps the token. Explain on
        the page of the route takes one of the tokens by its name.
      </Text>
    );
  }
  if (error !== null) return <LoadError error={error} onRetry={() => void refetch()} />;
  return data === undefined ? <Loading /> : <ExplanationView explanation={data} />;
}
