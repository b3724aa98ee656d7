import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { gateway, ifMatch } from '../../api/client.ts';

const PATH = '/v1/environments/{name}';
/** Of a comparison in one call. */
const DIFFERENCES = 50;

/** A page of the versions of an environment, newest first. */
export function versionsQuery(name: string, cursor: string | undefined) {
  return queryOptions({
    queryKey: ['versions', name, cursor],
    queryFn: async ({ signal }) => {
      const params = { path: { name }, query: cursor === undefined ? {} : { cursor } };
      return (await gateway.get(`${PATH}/versions`, { params, signal })).body;
    },
    placeholderData: keepPreviousData,
    refetchInterval: 5000,
  });
}

/** One version. */
export function versionQuery(name: string, version: number) {
  return queryOptions({
    queryKey: ['versions', name, 'one', version],
    queryFn: async ({ signal }) => {
      const params = { path: { name, version } };
      return (await gateway.get(`${PATH}/versions/{version}`, { params, signal })).body.data;
    },
  });
}

/** The number of the newest version; 0 if none was published yet. */
export function currentVersionQuery(name: string) {
  return queryOptions({
    queryKey: ['versions', name, 'current'],
    queryFn: async ({ signal }) => {
      const answer = await gateway.get(PATH, { params: { path: { name } }, signal });
      return answer.body.data.config_version;
    },
    refetchInterval: 5000,
  });
}

/** What differs from one version to another. Versions never change, so neither do differences. */
export function differencesQuery(name: string, from: number, to: number) {
  return infiniteQueryOptions({
    queryKey: ['versions', name, 'diff', from, to],
    queryFn: async ({ signal, pageParam }) => {
      const query = {
        from,
        to,
        limit: DIFFERENCES,
        ...(pageParam !== '' && { cursor: pageParam }),
      };
      const params = { path: { name }, query };
      return (await gateway.get(`${PATH}/diff`, { params, signal })).body;
    },
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
    staleTime: Infinity,
  });
}

/**
 * Restores the services and routes of a version, if `seen` is still the newest version.
 * @throws ApiError, ConnectionError
 */
export async function rollBack(name: string, version: number, seen: number) {
  const params = { path: { name }, header: ifMatch(`"${seen}"`) };
  const body = { version };
  return (await gateway.post(`${PATH}/rollback`, { params, body })).body.data;
}
