import type { RequestRecord } from '../../api/client.ts';
import type { ExplainSearch } from '../route/explain/explain-search.ts';
import { ownPath } from './request-path.ts';

type Asked = Pick<
  RequestRecord,
  'method' | 'path' | 'route' | 'match' | 'host' | 'token_id' | 'subject' | 'error_code'
>;

/** The question of explain that asks about a recorded request, as far as it is recorded. */
export function explainLink(record: Asked): ExplainSearch & { readonly tab: 'explain' } {
  const { method, match, host, token_id: token, subject, error_code: code } = record;
  const own = ownPath(record);
  const isAnonymous = token === null && subject === null && code === null;
  return {
    tab: 'explain',
    method,
    ...(match !== null && host !== null ? { host } : {}),
    // The route itself is the question of an empty path.
    ...(own === '/' ? {} : { target: own }),
    ...(token === null ? {} : { caller: 'token' as const, token_id: token }),
    ...(isAnonymous ? { caller: 'anonymous' as const } : {}),
  };
}
