import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { UndoList } from '@gateway/shared/test/undo-list';
import { borrowGateway } from '../../harness/borrowed-gateway.ts';
import type { Client } from '../../harness/client.ts';
import type { ResourceMakers } from '../../harness/resource-makers.ts';
import { nameOf, type Observations, type Pair, type StartedServer, type Target } from './pair.ts';

/** Time enough to install packages. */
const START_TIMEOUT_MS = 300_000;

/** Every machine knows it as an address of its own. One route at a time has it. */
const HOST = 'localhost';
/** Every data plane serves the route when the change is answered. */
const SERVED = { headers: { prefer: 'wait=20' } };

/** A gateway for pairs. */
export interface PairGateway extends ResourceMakers {
  readonly admin: Client;
  /** Where it serves with TLS, if it does. */
  readonly secure?: { readonly baseUrl: string; readonly ca: string };
  close(): Promise<void>;
}

/**
 * Defines a test for each pair: its client calls its server direct, and through a route of one gateway that all of them
 * share, by default a borrowed one. Both must see what the pair says.
 */
export function testPairs(
  pairs: readonly Pair[],
  timeoutMs?: number,
  startGateway: () => Promise<PairGateway> = borrowGateway,
): void {
  const undo = new UndoList();
  const routes = new Map<
    Pair,
    { readonly id: string; readonly name: string; readonly server: StartedServer }
  >();
  let gateway: PairGateway;

  const started = async (pair: Pair): Promise<StartedServer> => {
    const server = await pair.start();
    undo.add(() => server.close());
    return server;
  };

  beforeAll(async () => {
    gateway = await startGateway();
    undo.add(() => gateway.close());
    for (const pair of pairs.filter(({ missing }) => missing === undefined)) {
      const server = await started(pair);
      const upstreams = server.urls.map((url) => ({ url }));
      const service = await gateway.service({ url: undefined, upstreams, ...server.service });
      const { id, name } = await gateway.route({ service_id: service.id, ...server.route });
      routes.set(pair, { id, name: String(name), server });
    }
    await gateway.settled();
  }, START_TIMEOUT_MS);
  afterAll(() => undo.run());

  const direct = async (pair: Pair): Promise<Observations> => {
    const server = await started(pair);
    return server.use({ url: server.urls[0], token: gateway.admin.token });
  };
  const through = async (pair: Pair): Promise<Observations> => {
    const route = routes.get(pair);
    if (route === undefined) throw new Error(`${pair.client} has no route`);
    const target = targetOf(gateway, pair);
    if (pair.reach !== 'host') {
      return route.server.use({ ...target, url: `${target.url}/v1/proxy/${route.name}` });
    }
    const url = new URL(target.url);
    url.hostname = HOST;
    const setMatch = async (match: unknown) => {
      const { status, body } = await gateway.admin.patch(
        `/v1/routes/${route.id}`,
        { match },
        SERVED,
      );
      if (status !== 200) throw new Error(body);
    };
    await setMatch([{ hosts: [HOST] }]);
    try {
      return await route.server.use({ ...target, url: url.origin });
    } finally {
      await setMatch([]);
    }
  };

  for (const pair of pairs) {
    if (pair.missing !== undefined) {
      it.skip(`${nameOf(pair)} (${pair.missing})`, () => undefined);
      continue;
    }
    it(
      nameOf(pair),
      async () => {
        const [seenDirect, seenThrough] = await Promise.all([direct(pair), through(pair)]);
        expect({ direct: seenDirect, through: seenThrough }).toEqual({
          direct: pair.direct,
          through: { ...pair.direct, ...pair.otherwise },
        });
      },
      timeoutMs,
    );
  }
}

/** The base URL at which the client of a pair calls. */
function targetOf({ admin, secure }: PairGateway, pair: Pair): Target {
  const { baseUrl: url, token } = admin;
  if (pair.secure === undefined) return { url, token };
  if (secure === undefined) throw new Error('this gateway has no certificate');
  return { url: secure.baseUrl, token, ca: secure.ca };
}
