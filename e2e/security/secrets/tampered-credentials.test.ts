import { expectRefusal } from '@gateway/shared/test/refusal';
import { alterDatabase } from '@gateway/testing/alter-database';
import { eventually } from '@gateway/shared/test/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../../harness/gateway.ts';

const startTimeoutMs = 60_000;

const SERVICES = ['other', 'swapped', 'damaged', 'renamed', 'without'] as const;
type Name = (typeof SERVICES)[number];

/** Changes that an attacker with write access to Postgres, but without a master key, can make. */
describe('a credential that was changed in the database', () => {
  let gateway: Gateway;
  const ids: Partial<Record<Name, string>> = {};
  const id = (name: Name) => ids[name] ?? '';
  const alter = (statement: string, ...values: string[]) =>
    alterDatabase(gateway.stack.databaseUrl, statement, values);
  const credential = (name: Name) => ({ type: 'bearer', token: `secret-of-${name}` });

  beforeAll(async () => {
    gateway = await startGateway();
    for (const name of SERVICES) {
      const sealed = name === 'without' ? {} : { credential: credential(name) };
      ids[name] = (await gateway.service(sealed)).id;
      await gateway.route({ name, service_id: id(name) });
    }
    await gateway.settled();
    for (const name of SERVICES) expect((await gateway.admin.proxy(name)).status).toBe(200);
    await alter(
      'UPDATE services SET credential = other.credential FROM services other WHERE services.id = ANY($1) AND other.id = $2',
      `{${id('swapped')},${id('without')}}`,
      id('other'),
    );
    await alter(
      `UPDATE services SET credential = jsonb_set(credential, '{sealed}',
         to_jsonb(reverse(credential->>'sealed'))) WHERE id = $1`,
      id('damaged'),
    );
    await alter(
      `UPDATE services SET credential = jsonb_set(credential, '{header}', '"x-shown"') WHERE id = $1`,
      id('renamed'),
    );
    // Only changes are published, so the service must change.
    for (const name of SERVICES) {
      const changed = await gateway.admin.patch(`/v1/services/${id(name)}`, { health_path: '/up' });
      expect(changed.status).toBe(200);
    }
    await gateway.settled();
    gateway.upstream.seen.length = 0;
  }, startTimeoutMs);
  afterAll(() => gateway.close());

  it.each(['swapped', 'damaged', 'without'] as const)(
    'is not sent if it was %s, and no request is sent without it',
    async (name) => {
      await expectRefusal(await gateway.admin.proxy(name), 503, 'gateway_not_ready');
      expect(gateway.upstream.seen).toEqual([]);
    },
  );

  it('cannot be moved to another header, because the header name is encrypted with it', async () => {
    expect((await gateway.admin.proxy('renamed')).status).toBe(200);
    const [seen] = gateway.upstream.seen;
    expect(seen?.headers.authorization).toBe('Bearer secret-of-renamed');
    expect(seen?.headers).not.toHaveProperty('x-shown');
  });

  it('is reported to operators, and other services are not affected', async () => {
    expect((await gateway.admin.proxy('other')).status).toBe(200);
    const [plane] = gateway.dataPlanes;
    const readiness = await (await fetch(`${plane?.adminUrl ?? ''}/readyz`)).text();
    expect(readiness).toContain('"status":"degraded"');
    const metrics = await (await fetch(`${plane?.adminUrl ?? ''}/metrics`)).text();
    expect(metrics).toContain('gateway_unusable_credentials{key_id="k1",reason="unreadable"} 3');
  });

  it('works again after it is set again', async () => {
    const body = { credential: credential('damaged') };
    expect((await gateway.admin.patch(`/v1/services/${id('damaged')}`, body)).status).toBe(200);
    await eventually(async () => expect((await gateway.admin.proxy('damaged')).status).toBe(200));
    expect(gateway.upstream.seen.at(-1)?.headers.authorization).toBe('Bearer secret-of-damaged');
  });
});
