import type { Snapshot, SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { startUpstream, type SeenRequest, type TestUpstream } from '@gateway/shared/test/upstream';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { startTestDataPath, type TestDataPathOptions } from './data-path.ts';

type Affinity = NonNullable<SnapshotRoute['affinity']>;

/** An affinity with defaults for what is not given. */
export const affinityOf = (given: Partial<Affinity> & Pick<Affinity, 'by'>): Affinity => ({
  header: null,
  cookie: null,
  retry_elsewhere: false,
  ...given,
});

/** Three upstreams of a service, each with an answer of its own, behind a route with this affinity. */
export async function startSessions(
  affinity: Parameters<typeof affinityOf>[0],
  route: Partial<SnapshotRoute> = {},
  options: TestDataPathOptions = {},
  answer: (
    name: string,
    seen: SeenRequest,
  ) => Readonly<Record<string, string | string[]>> = () => ({}),
) {
  const upstreams: TestUpstream[] = [];
  for (const name of ['ups_0', 'ups_1', 'ups_2']) {
    const upstream = await startUpstream((seen, response) => {
      response.writeHead(200, { 'x-upstream': name, ...answer(name, seen) }).end(name);
    });
    upstreams.push(upstream);
  }
  const secret = createTokenSecret();
  const fields = { affinity: affinityOf(affinity), ...route };
  const urls = upstreams.map(({ url }) => url);
  const snapshot = testSnapshot({ upstreams: urls, ...fields }, secret);
  const gateway = await startTestDataPath({ upstreams: [] }, { snapshots: [snapshot], ...options });
  let version = 1;
  return {
    gateway,
    snapshot,
    upstreams,
    secret,
    ask: (headers: Record<string, string> = {}, path = 'test', init: RequestInit = {}) =>
      gateway.call(path, { ...init, headers: { authorization: `Bearer ${secret}`, ...headers } }),
    use: (change: (before: Snapshot) => Partial<Snapshot>) =>
      gateway.use({ ...snapshot, ...change(snapshot), version: (version += 1) }),
    async close() {
      await gateway.stop();
      for (const upstream of upstreams) await upstream.close();
    },
  };
}

/** A service without the upstream of this id. */
export function without(snapshot: Snapshot, id: string): Pick<Snapshot, 'services'> {
  return {
    services: snapshot.services.map((service) => ({
      ...service,
      upstreams: service.upstreams.filter((upstream) => upstream.id !== id),
    })),
  };
}
