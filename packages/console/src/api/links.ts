import { queryOptions } from '@tanstack/react-query';
import { gateway, type Links } from './client.ts';

/** Where other tools show the same request, route or service. The settings of the control plane name them. */
export const linksQuery = queryOptions({
  queryKey: ['links'],
  queryFn: async ({ signal }): Promise<Links> =>
    (await gateway.get('/v1/links', { signal })).body.data,
  staleTime: Infinity,
});
