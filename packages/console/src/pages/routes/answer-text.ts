import type { Route } from '../../api/client.ts';
import { visibleText } from '../../ui/visible-text.ts';

/** What a route without a service answers, such as `Answers 503`; undefined: it has a service. */
export function answerText({
  respond,
  redirect,
}: Pick<Route, 'respond' | 'redirect'>): string | undefined {
  if (respond !== null) return `Answers ${respond.status}`;
  if (redirect === null) return undefined;
  return `Redirects with ${redirect.status} to ${visibleText(redirect.location)}`;
}
