import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { gateway, type DataPlane } from '../../api/client.ts';

const EVERY_MS = 5000;

/** A page of the data planes, with the configuration of the environment that each serves. */
export function dataPlanesQuery(environment: string, cursor: string | undefined) {
  return queryOptions({
    queryKey: ['data-planes', environment, cursor],
    queryFn: async ({ signal }) => {
      const query = { environment, ...(cursor === undefined ? {} : { cursor }) };
      return (await gateway.get('/v1/data-planes', { params: { query }, signal })).body;
    },
    placeholderData: keepPreviousData,
    refetchInterval: EVERY_MS,
  });
}

/** One data plane with all environments; null: none of this id is known. */
export function dataPlaneQuery(id: string) {
  return queryOptions({
    queryKey: ['data-planes', 'one', id],
    queryFn: async ({ signal }): Promise<DataPlane | null> => {
      const params = { query: { limit: 200 } };
      for await (const one of gateway.list('/v1/data-planes', { params, signal })) {
        if (one.id === id) return one;
      }
      return null;
    },
    refetchInterval: EVERY_MS,
  });
}
