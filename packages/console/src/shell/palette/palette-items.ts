import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { linkOptions, type LinkOptions } from '@tanstack/react-router';
import { Activity, BookOpen, Plus, Webhook, type LucideIcon } from 'lucide-react';
import { gateway } from '../../api/client.ts';
import { useScope } from '../../api/rights.ts';
import { serviceNamesQuery } from '../../api/service-names.ts';
import { foundTokensQuery, MAX_TOKEN_SEARCH } from '../../api/found-tokens.ts';
import { requestIdIn } from '../../api/request-id.ts';
import { NAVIGATION } from '../navigation-pages.ts';

/** Something that the palette leads to. */
export interface PaletteItem {
  readonly id: string;
  /** The heading that it stands under. */
  readonly group: string;
  readonly label: string;
  readonly icon: LucideIcon;
  /** The URL of what is no page of the console, which stays open beside it. */
  readonly link: LinkOptions | string;
  /** What leads there without the palette. */
  readonly keys?: string;
}

const TYPING_MS = 120;
/** More of one kind would hide the others. */
const MAX_OF_A_KIND = 6;

const ACTIONS: readonly PaletteItem[] = [
  {
    id: 'new-service',
    group: 'Create',
    label: 'New service',
    icon: Plus,
    link: linkOptions({ to: '/services/new' }),
  },
  {
    id: 'new-route',
    group: 'Create',
    label: 'New route',
    icon: Plus,
    link: linkOptions({ to: '/routes/new' }),
  },
];

interface HelpItem extends PaletteItem {
  /** What people call it. */
  readonly words: string;
}

const HELP: readonly HelpItem[] = [
  {
    id: 'documentation',
    group: 'Help',
    label: 'Documentation',
    words: 'documentation docs guide help',
    icon: BookOpen,
    link: '/docs/guide',
  },
  {
    id: 'api-reference',
    group: 'Help',
    label: 'API reference',
    words: 'api reference docs openapi help',
    icon: Webhook,
    link: '/docs',
  },
];

function iconOf(label: string): LucideIcon {
  return NAVIGATION.find((page) => page.label === label)?.icon ?? Activity;
}

function routesLike(environment: string, search: string) {
  return queryOptions({
    queryKey: ['routes', environment, 'like', search],
    queryFn: async ({ signal }) => {
      const query = { environment, search, limit: MAX_OF_A_KIND };
      return (await gateway.get('/v1/routes', { params: { query }, signal })).body.data;
    },
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  });
}

/**
 * What the text leads to: a request by an id in it, and pages, routes, services and tokens whose names have it. Routes and
 * tokens are those of the last moment in which nobody typed, as far as they have the text.
 */
export function usePaletteItems(environment: string, text: string): readonly PaletteItem[] {
  const typed = text.trim().toLowerCase();
  const [searched] = useDebouncedValue(typed, TYPING_MS);
  const asks = typed !== '';
  const sees = {
    routes: useScope('routes:read').allowed,
    services: useScope('services:read').allowed,
    tokens: useScope('tokens:read').allowed,
  };
  const routes = useQuery({
    ...routesLike(environment, searched),
    enabled: searched !== '' && sees.routes,
  });
  const services = useQuery({
    ...serviceNamesQuery(environment),
    enabled: asks && sees.services,
  });
  const tokens = useQuery({
    ...foundTokensQuery('name', searched.slice(0, MAX_TOKEN_SEARCH)),
    enabled: searched !== '' && sees.tokens,
  });
  const has = (name: string) => name.toLowerCase().includes(typed);

  const pages = NAVIGATION.filter(({ label }) => has(label)).map(
    ({ label, icon, link, key }): PaletteItem => {
      return { id: label, group: 'Pages', label, icon, link, keys: `g ${key}` };
    },
  );
  if (!asks) return [...pages, ...ACTIONS, ...HELP];
  const requestId = requestIdIn(text);
  const request: readonly PaletteItem[] =
    requestId === undefined
      ? []
      : [
          {
            id: requestId,
            group: 'Request',
            label: requestId,
            icon: Activity,
            link: linkOptions({ to: '/requests/$id', params: { id: requestId } }),
          },
        ];
  return [
    ...request,
    ...(routes.data ?? [])
      .filter(({ name }) => has(name))
      .map(({ id, name }) => ({
        id,
        group: 'Routes',
        label: name,
        icon: iconOf('Routes'),
        link: linkOptions({ to: '/routes/$routeId', params: { routeId: id } }),
      })),
    ...(services.data ?? [])
      .filter(({ name }) => has(name))
      .slice(0, MAX_OF_A_KIND)
      .map(({ id, name }) => ({
        id,
        group: 'Services',
        label: name,
        icon: iconOf('Services'),
        link: linkOptions({ to: '/services/$serviceId', params: { serviceId: id } }),
      })),
    ...(tokens.data ?? [])
      .filter(({ label }) => has(label))
      .slice(0, MAX_OF_A_KIND)
      .map(({ value: id, label }) => ({
        id,
        group: 'Tokens',
        label,
        icon: iconOf('Tokens'),
        link: linkOptions({ to: '/requests', search: { token: id } }),
      })),
    ...pages,
    ...ACTIONS.filter(({ label }) => has(label)),
    ...HELP.filter(({ words }) => has(words)),
  ];
}
