import type { Route } from '../../../api/client.ts';
import type { Policy } from './policy.ts';

/** Which requests go to the same upstream; undefined: each goes to any. */
export function explainSessions({ affinity }: Pick<Route, 'affinity'>): Policy | undefined {
  if (affinity === null) return undefined;
  const { by, header, cookie, retry_elsewhere: elsewhere } = affinity;
  const name = header ?? cookie;
  return {
    title: 'Sessions',
    field: 'affinity',
    sentences: [
      BELONGS[by](name),
      elsewhere
        ? 'A retry may go to another upstream.'
        : 'A retry goes to the same upstream again.',
    ],
  };
}

const BELONGS: Readonly<
  Record<NonNullable<Route['affinity']>['by'], (name: string | null) => string>
> = {
  token: () => 'The requests of a caller go to the same upstream.',
  ip: () => 'The requests of an address go to the same upstream.',
  header: (name) => `Requests with the same ${name ?? ''} go to the same upstream.`,
  gateway_cookie: (name) =>
    `Callers get the cookie ${name ?? 'gateway_affinity'}, and their requests go to the same upstream.`,
  upstream_cookie: (name) =>
    `The requests of a session go to the upstream that has set its cookie ${name ?? ''}.`,
  upstream_header: (name) =>
    `The requests of a session go to the upstream that has sent its ${name ?? 'Mcp-Session-Id'}.`,
};
