import { eventually } from '@gateway/shared/test/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../harness/gateway.ts';

const testTimeoutMs = 60_000;
const changesEach = 20;

describe('three control planes at once', () => {
  let gateway: Gateway;
  let controlPlanes: readonly Gateway['controlPlane'][];

  beforeAll(async () => {
    gateway = await startGateway({ dataPlanes: 2 });
    const others = [gateway.stack.startControlPlane(), gateway.stack.startControlPlane()];
    controlPlanes = [gateway.controlPlane, ...(await Promise.all(others))];
  }, testTimeoutMs);
  afterAll(() => gateway.close());

  /** The routes that each data plane still does not serve after the deadline. */
  async function expectServed(names: readonly string[]): Promise<void> {
    for (const { baseUrl } of gateway.dataPlanes) {
      const client = gateway.admin.at(baseUrl);
      await eventually(async () => {
        const answers = await Promise.all(names.map((name) => client.proxy(name)));
        const missing = names.filter((_name, index) => answers[index]?.status !== 200);
        expect(missing).toEqual([]);
      });
    }
  }

  it(
    'publish all changes that were made on each of them at the same time',
    async () => {
      const service = await gateway.service();
      const names = controlPlanes.map((_plane, plane) =>
        Array.from({ length: changesEach }, (_one, change) => `of-${plane}-${change}`),
      );
      await Promise.all(
        controlPlanes.map(async ({ baseUrl }, plane) => {
          const client = gateway.admin.at(baseUrl);
          for (const name of names[plane] ?? []) {
            await client.create('/v1/routes', { name, service_id: service.id });
          }
        }),
      );
      await expectServed(names.flat());
    },
    testTimeoutMs,
  );

  it(
    'let one of several concurrent changes of a field win, the same on every data plane',
    async () => {
      const { id } = await gateway.route({ name: 'contended', methods: ['PUT'] });
      const methods = ['PUT', 'PATCH', 'DELETE'];
      await Promise.all(
        controlPlanes.map(({ baseUrl }, plane) =>
          gateway.admin.at(baseUrl).patch(`/v1/routes/${id}`, { methods: [methods[plane]] }),
        ),
      );
      await gateway.settled();
      const stored = (await gateway.admin.get(`/v1/routes/${id}`)).resource()['methods'];
      for (const { baseUrl } of gateway.dataPlanes) {
        const answer = await gateway.admin.at(baseUrl).proxy('contended', { method: 'GET' });
        expect([answer.headers.get('allow')]).toEqual(stored);
      }
    },
    testTimeoutMs,
  );

  it(
    'publish a change of a control plane that is killed right after its 2xx',
    async () => {
      const service = await gateway.service();
      const [, , killed] = controlPlanes;
      if (killed === undefined) throw new Error('there are three');
      const client = gateway.admin.at(killed.baseUrl);
      await client.create('/v1/routes', { name: 'last-words', service_id: service.id });
      await killed.stop('SIGKILL');
      await expectServed(['last-words']);
    },
    testTimeoutMs,
  );
});
