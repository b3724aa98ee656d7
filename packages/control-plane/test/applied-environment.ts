import type { Answer, TestApi } from './api.ts';

/** An environment that tests apply documents to. */
export interface AppliedEnvironment {
  readonly name: string;
  readonly path: string;
  readonly apply: (body: object, token?: string) => Promise<Answer>;
  /** The data of an export. */
  readonly dump: () => Promise<Record<string, unknown>>;
  /** The actions that were made on services and routes, in their order. */
  readonly changes: () => Promise<string[]>;
}

let environments = 0;

/** Creates an environment. */
export async function newAppliedEnvironment(api: TestApi): Promise<AppliedEnvironment> {
  const name = `applied-${(environments += 1)}`;
  await api.call('POST', '/v1/environments', { body: { name } });
  const path = `/v1/environments/${name}`;
  return {
    name,
    path,
    apply: (body, token = api.adminToken) => api.call('POST', `${path}/apply`, { body, token }),
    dump: async () => (await api.call('GET', `${path}/export`)).json.data ?? {},
    async changes() {
      const rows = await api.db
        .selectFrom('config_outbox')
        .select('action')
        .where('environment', '=', name)
        .where('kind', 'in', ['service', 'route'])
        .orderBy('id')
        .execute();
      return rows.map(({ action }) => action);
    },
  };
}

/** The faults of a document that was refused. */
export const faultsOf = ({ json }: Answer) =>
  json.error?.['details'] as { path: string; message: string }[];

/** What an apply says of its changes as a whole. */
export const summaryOf = ({ json }: Answer) => {
  const { services, routes, changed } = (json.data ?? {}) as Record<string, unknown>;
  return { services, routes, changed };
};

export const counts = (created = 0, updated = 0, deleted = 0, unchanged = 0) => {
  return { created, updated, deleted, unchanged };
};

/** Two services and two routes. */
export const DOCUMENT = {
  services: [
    { name: 'pay', url: 'http://pay.example' },
    { name: 'pay-2', upstreams: [{ url: 'http://a.example', region: 'eu' }] },
  ],
  routes: [
    { name: 'charges', service: 'pay', timeout_ms: 5000 },
    {
      name: 'refunds',
      versions: [
        { name: 'stable', service: 'pay', weight: 9 },
        { name: 'canary', service: 'pay-2', weight: 1 },
      ],
    },
  ],
};
