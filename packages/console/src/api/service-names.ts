import { queryOptions, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { gateway } from './client.ts';
import { useNames } from './names-by-id.ts';
import { useScope } from './rights.ts';

/** More would not help anybody who chooses from a list. */
const MAX_SERVICES = 2000;

/** A service by its id and name. */
export interface NamedService {
  readonly id: string;
  readonly name: string;
}

/** The services of an environment, by name, for choices and for names beside ids. */
export function serviceNamesQuery(environment: string) {
  return queryOptions({
    // Begins as the lists of services do, so that a change of one refreshes it.
    queryKey: ['services', environment, 'names'],
    queryFn: async ({ signal }): Promise<readonly NamedService[]> => {
      const services: NamedService[] = [];
      const query = { environment, limit: 200 };
      for await (const { id, name } of gateway.list('/v1/services', {
        params: { query },
        signal,
      })) {
        services.push({ id, name });
        if (services.length >= MAX_SERVICES) break;
      }
      return services.toSorted((a, b) => a.name.localeCompare(b.name));
    },
    staleTime: 30_000,
  });
}

/**
 * Names the services of a list: one that was deleted as `payments (deleted)`, one that the session may not see by its id.
 * @param ids may have an id twice; null: none
 */
export const useNamesOfServices = (ids: readonly (string | null)[]): ((id: string) => string) =>
  useNames('service', ids).nameOf;

/**
 * Names a service that can be chosen in a form, or that was chosen before.
 * @param ids those that were: the choices may be too many to have them
 */
export function useServiceName(
  environment: string,
  ids: readonly (string | null)[],
): (id: string) => string {
  const { allowed } = useScope('services:read');
  const { data } = useQuery({ ...serviceNamesQuery(environment), enabled: allowed });
  const names = useMemo(() => new Map(data?.map(({ id, name }) => [id, name])), [data]);
  const isMissing = (id: string | null) => id !== null && !names.has(id);
  const others = useNamesOfServices(data === undefined ? [] : ids.filter(isMissing));
  return (id) => names.get(id) ?? others(id);
}
