import { describe, expect, it } from '@jest/globals';
import type { Snapshot } from '@gateway/shared/snapshot/schema';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { Registry } from 'prom-client';
import { captureLog } from '../../test/captured-log.ts';
import { runAtOnce } from '@gateway/shared/pace';
import { compileEnvironment } from './compile.ts';
import { EMPTY_TABLE, withEnvironment } from './routing-table.ts';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { CredentialReport } from './credential-report.ts';

const plain = testSnapshot({ upstreams: ['http://a.test'] }, createTokenSecret());

/** A configuration with this many services, each with a credential encrypted with the key. */
function snapshotWith(keyIds: readonly string[]): Snapshot {
  const [service] = plain.services;
  if (service === undefined) throw new Error('the snapshot has a service');
  const others = keyIds.map((key_id, at) => ({
    ...service,
    id: `svc_${at}`,
    credential: { key_id, sealed: String(at) },
  }));
  return { ...plain, services: [service, ...others] };
}

function setUp() {
  const registry = new Registry();
  const { log, lines } = captureLog();
  const report = new CredentialReport(log, registry);
  const apply = (keyIds: readonly string[]) => {
    const table = runAtOnce(compileEnvironment(snapshotWith(keyIds)));
    report.applied(withEnvironment(EMPTY_TABLE, table));
  };
  return { report, registry, lines, apply };
}

describe('the report of undecryptable credentials', () => {
  it('logs each missing key and its number of services once', async () => {
    const { report, registry, lines, apply } = setUp();
    apply(['k2', 'k2', 'k3']);
    apply(['k2', 'k2', 'k3']);
    expect(report.unusable()).toEqual([
      { key_id: 'k2', reason: 'key_missing', services: 2 },
      { key_id: 'k3', reason: 'key_missing', services: 1 },
    ]);
    expect(report.reasons()[0]).toContain('GATEWAY_MASTER_KEYS lacks the key k2');
    expect(lines).toEqual([
      expect.objectContaining({ key_id: 'k2', services: 2, service_ids: ['svc_0', 'svc_1'] }),
      expect.objectContaining({ key_id: 'k3', services: 1 }),
    ]);
    expect(await registry.metrics()).toContain(
      'gateway_unusable_credentials{key_id="k2",reason="key_missing"} 2',
    );
  });

  it('logs when all credentials are decryptable again, and nothing if they always were', async () => {
    const { report, registry, lines, apply } = setUp();
    apply([]);
    expect(lines).toEqual([]);
    apply(['k2']);
    apply([]);
    expect(lines.map(({ msg }) => msg)).toEqual([
      'upstream credentials not decryptable',
      'all upstream credentials decryptable again',
    ]);
    expect([report.unusable(), report.reasons()]).toEqual([[], []]);
    expect(await registry.metrics()).not.toContain('gateway_unusable_credentials{');
  });

  it('stays within the limits of a heartbeat and a log line', () => {
    const { report, lines, apply } = setUp();
    apply(Array.from({ length: 40 }, (_none, at) => (at < 20 ? 'same' : `k${at}`.padEnd(40, 'x'))));
    expect(report.unusable()).toHaveLength(16);
    for (const { key_id } of report.unusable()) expect(key_id.length).toBeLessThanOrEqual(32);
    expect(lines[0]).toMatchObject({ services: 20, service_ids: { length: 10 } });
  });
});
