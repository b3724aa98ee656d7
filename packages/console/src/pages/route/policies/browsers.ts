import { amountText } from '@gateway/client/amounts';
import type { Route } from '../../../api/client.ts';
import { DEFAULT_METHODS } from '../../../api/default-methods.ts';
import type { Policy } from './policy.ts';
import { listWords } from './words.ts';

/** Which pages of other origins may call the route; undefined: the upstream decides. */
export function explainBrowsers({
  cors,
  methods,
}: Pick<Route, 'cors' | 'methods'>): Policy | undefined {
  if (cors === null) return undefined;
  const { origins, headers, expose, credentials, max_age_s: seconds } = cors;
  const accepted = methods ?? DEFAULT_METHODS;
  const allowed = cors.methods?.filter((method) => accepted.includes(method)) ?? accepted;
  return {
    title: 'Browsers (CORS)',
    field: 'cors',
    sentences: [
      origins.includes('*')
        ? 'Pages of every origin may read responses.'
        : `Pages of ${listWords(origins)} may read responses. WebSockets of other pages get 403.`,
      `They may use ${allowed.length === 0 ? 'no method' : listWords(allowed)}, and send ${namesOf(headers, 'no header of their own')}.`,
      ...(expose.length === 0 ? [] : [`They may read ${namesOf(expose, '')} of responses.`]),
      credentials ? 'They may send cookies.' : 'They may not send cookies.',
      `Browsers keep the answer to a preflight for ${amountText(seconds, 'seconds')}.`,
    ],
  };
}

function namesOf(names: readonly string[], none: string): string {
  if (names.includes('*')) return 'every header';
  return names.length === 0 ? none : listWords(names);
}
