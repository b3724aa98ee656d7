import { queryOptions, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { gateway } from './client.ts';

const app = getRouteApi('/app');
/** What the gateway itself takes if a caller names no environment and its setting was not changed. */
const USUAL = 'production';

/** The names of the environments that the token of the session covers. */
export const environmentsQuery = queryOptions({
  queryKey: ['environments'],
  queryFn: async ({ signal }): Promise<readonly string[]> => {
    const names: string[] = [];
    const query = { limit: 200 };
    for await (const one of gateway.list('/v1/environments', { params: { query }, signal })) {
      names.push(one.name);
    }
    return names;
  },
  staleTime: 30_000,
});

/** The environment that the pages show: the one of the URL, else `production`, else the first. */
export function useEnvironment(): string {
  const { environment } = app.useSearch();
  const { data = [] } = useQuery(environmentsQuery);
  if (environment !== undefined) return environment;
  return data.includes(USUAL) ? USUAL : (data[0] ?? USUAL);
}
