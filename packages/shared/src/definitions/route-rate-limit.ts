import { choiceField, integerField, objectField } from './fields.ts';

/** How many requests a route takes in a window, and whose requests are counted together. */
export const rateLimitField = objectField({
  limit: integerField(1, 1_000_000_000)
    .default(60_000)
    .meta({
      title: 'Requests',
      description: 'The requests that are allowed in a window, on all data planes together.',
      examples: [1000],
    }),
  window_seconds: integerField(1, 86_400)
    .default(60)
    .meta({
      title: 'Window',
      'x-unit': 'seconds',
      description:
        'The length of a window. Windows are aligned to the clock of the NATS server: one of 60 s starts at each full minute.',
      examples: [60],
    }),
  per: choiceField(['route', 'token', 'ip'], {
    route: 'All callers together',
    token: 'Each caller',
    ip: 'Each client address',
  })
    .default('route')
    .meta({
      title: 'Counted for',
      description:
        'What has a quota of its own. `route`: the route, shared by all callers. `token`: each token, each JWT subject, or each address on a route without authentication. `ip`: each address (each /64 of IPv6).',
      examples: ['token'],
    }),
  on_store_unavailable: choiceField(['share', 'refuse'], {
    share: 'Each data plane grants its share',
    refuse: 'Grant what is leased, then answer 503',
  })
    .default('share')
    .meta({
      title: 'While NATS is away',
      description:
        'What a data plane does while NATS is away, or stores no more callers of the route, and its lease is used up. `share`: it grants its share. `refuse`: it answers 503 `quota_unavailable`.',
      examples: ['share'],
    }),
}).meta({
  title: 'Quota',
  description: 'The quota of the route. Requests beyond it are answered with 429.',
});
