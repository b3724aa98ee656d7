import { routeId } from '../../lookup/find-route.ts';
import { serviceId } from '../../lookup/find-service.ts';
import { UsageError } from '../../program/exit-codes.ts';
import type { Session } from '../../session.ts';
import { didYouMean } from '@gateway/shared/similar/did-you-mean';

/** The pages of the console. */
export const PAGES: readonly string[] = [
  'overview',
  'requests',
  'services',
  'routes',
  'tokens',
  'data-planes',
  'configuration',
  'audit',
  'environments',
];

/** The kinds of things that have a page each, by the word that names one. */
const KINDS: Readonly<
  Record<string, (session: Session, name: string) => Promise<string> | string>
> = {
  route: async (session, name) => `routes/${await routeId(session, name)}`,
  service: async (session, name) => `services/${await serviceId(session, name)}`,
  request: (_session, id) => `requests/${encodeURIComponent(id)}`,
  version: (_session, version) => `configuration/${encodeURIComponent(version)}`,
};

const PAGE_OF_ID: Readonly<Record<string, string>> = {
  req: 'requests',
  rte: 'routes',
  svc: 'services',
};

/** The path of a page below `/console/`. @throws UsageError if there is no such page */
export async function consolePath(
  session: Session,
  what: string | undefined,
  name: string | undefined,
): Promise<string> {
  if (what === undefined) return 'overview';
  const id = /^(req|rte|svc)_[0-9a-z]{26}$/.exec(what);
  if (id?.[1] !== undefined && name === undefined) return `${PAGE_OF_ID[id[1]] ?? ''}/${what}`;
  const singular = what.replace(/s$/, '');
  const pathOf = Object.hasOwn(KINDS, singular) ? KINDS[singular] : undefined;
  if (name !== undefined) {
    if (pathOf !== undefined) return pathOf(session, name);
    const kinds = Object.keys(KINDS);
    throw new UsageError(
      `${what} is no kind with a page for each${didYouMean(what, kinds) || `; kinds: ${kinds.join(', ')}`}`,
    );
  }
  if (PAGES.includes(what)) return what;
  if (pathOf !== undefined)
    throw new UsageError(`name the ${singular}: gwctl open ${singular} NAME`);
  throw new UsageError(
    `the console has no page ${what}${didYouMean(what, PAGES) || `; pages: ${PAGES.join(', ')}`}`,
  );
}
