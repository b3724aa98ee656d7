import { randomBytes } from 'node:crypto';
import { snapshotOf } from '@gateway/shared/test/config-publisher';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { configLogSubject, snapshotObject } from '@gateway/shared/messaging/names';
import { sealSnapshot } from '@gateway/shared/snapshot/codec';
import { sealLogEntry } from '@gateway/shared/snapshot/log-codec';
import type { Delta } from '@gateway/shared/snapshot/log-schema';
import { SNAPSHOT_FORMAT, type Snapshot } from '@gateway/shared/snapshot/schema';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { eventually } from '@gateway/shared/test/eventually';
import { metric } from '../../harness/figures.ts';
import type { ConfigWorld } from '../harness/config-world.ts';
import { hasLogged } from '../harness/log-lines.ts';
import type { Scenario } from '../harness/scenario.ts';

const ENVIRONMENT = 'production';
const BAD_ROUTE = 'bad';
/** Nothing of it goes on by itself: more time shows no more. */
const LONG_ENOUGH_MS = 5000;
const REPORTED = { deadlineMs: 30_000, intervalMs: 50 };
const VERSION = `gateway_config_version{environment="${ENVIRONMENT}"}`;

/** What is put into NATS in place of the next version. */
type Spoil = (config: ConfigWorld, version: number) => Promise<void>;

interface Report {
  /** The series that counts it. */
  readonly series: string;
  /** Of the log line. */
  readonly logged: readonly [message: string, ...also: string[]];
  /** In heartbeats, where it stays until the next good version; undefined where the gateway helps itself. */
  readonly inHeartbeat?: string;
}

const refusal = (reason: string): Report => ({
  series: `gateway_config_refused_total{reason="${reason}"}`,
  logged: ['configuration rejected', reason],
});

/** It is not served but reported, the old one serves, and the next good one is taken. */
function badConfiguration(fault: string, report: Report, spoil: Spoil): Scenario<ConfigWorld> {
  return {
    fault,
    async run(config, outageMs) {
      const { world, lastErrors } = config;
      const run = await world.begin(fault);
      const planes = await Promise.all(
        world.dataPlanes.map(async (plane) => ({
          ...plane,
          version: await metric(plane.adminUrl, VERSION),
          counted: await metric(plane.adminUrl, report.series),
        })),
      );
      await spoil(config, Math.max(...planes.map(({ version }) => version)) + 1);
      for (const { adminUrl, name, counted, version } of planes) {
        await eventually(async () => {
          if ((await metric(adminUrl, report.series)) <= counted) throw new Error('not counted');
          const told = (lastErrors.get(name) ?? '').includes(report.inHeartbeat ?? '');
          // The control plane may have helped before the next beat.
          const isOver = (await metric(adminUrl, VERSION)) > version;
          if (!told && !isOver) throw new Error('no heartbeat tells of it');
        }, REPORTED);
      }
      await run.outage(Math.min(outageMs, LONG_ENOUGH_MS));
      for (const plane of planes) {
        const told = await hasLogged(plane, ...report.logged);
        run.expectations.hold(told, `the log of ${plane.name} does not tell why`);
        const { status } = await world.management.at(plane.baseUrl).proxy(BAD_ROUTE);
        run.expectations.hold(status === 404, `${plane.name} serves what is bad: ${status}`);
      }
      await run.repair(async () => {
        await world.changeArrives();
        for (const { name } of planes) {
          await eventually(() => {
            if (lastErrors.get(name) !== null) throw new Error(`${name} tells of an error`);
          }, REPORTED);
        }
      });
      return run.finish();
    },
  };
}

/** Stores what a pointer leads to, then the pointer. */
async function point(
  { publisher }: ConfigWorld,
  { pointer, bytes }: Awaited<ReturnType<typeof sealSnapshot>>,
): Promise<void> {
  await publisher.objects.putBlob({ name: pointer.object }, bytes);
  await publisher.pointers.put(ENVIRONMENT, JSON.stringify(pointer));
}

/** Keys with the names of the gateway's own. */
const forged = ({ keys }: ConfigWorld) =>
  keys.map(({ id }) => ({ id, bytes: new Uint8Array(randomBytes(32)) }));

/** What nobody is to serve. */
const badContent = () => {
  const route = { name: BAD_ROUTE, upstreams: ['http://127.0.0.1:9'] };
  const { services, routes } = testSnapshot(route, createTokenSecret());
  return { services, routes };
};

const bad = (version: number): Snapshot => ({
  ...snapshotOf(ENVIRONMENT, version),
  ...badContent(),
});

/** Without the service that its route names. */
const poisoned = (version: number): Snapshot => ({ ...bad(version), services: [] });

const seal = (snapshot: Snapshot, keys: ConfigWorld['keys']) =>
  sealSnapshot(snapshot, snapshotObject(ENVIRONMENT, snapshot.version), keys);

export const wrongSignature = badConfiguration(
  'a snapshot with a wrong signature',
  { ...refusal('pointer_refused'), inHeartbeat: 'pointer_refused' },
  async (config, version) => {
    await point(config, await seal(bad(version), forged(config)));
  },
);

export const poisonedSnapshot = badConfiguration(
  'a poisoned snapshot: well signed, and it does not compile',
  refusal('apply_failed'),
  async (config, version) => {
    await point(config, await seal(poisoned(version), config.keys));
  },
);

export const truncatedObject = badConfiguration(
  'a truncated snapshot',
  refusal('snapshot_refused'),
  async (config, version) => {
    const sealed = await seal(bad(version), config.keys);
    await point(config, { ...sealed, bytes: sealed.bytes.subarray(0, sealed.bytes.length / 2) });
  },
);

/** An entry of the log that leads from the version before to that of the snapshot, with all of its content. */
function delta({ version, services, routes, tokens }: Snapshot): Delta {
  const from = version - 1;
  return {
    kind: 'delta',
    format: SNAPSHOT_FORMAT,
    environment: ENVIRONMENT,
    from,
    version,
    since: { snapshot: from, deltas: 1, bytes: 0 },
    services: { put: services, remove: [] },
    routes: { put: routes, remove: [] },
    tokens: { put: tokens, remove: [] },
  };
}

async function log({ connection }: ConfigWorld, entry: Uint8Array): Promise<void> {
  connection.publish(configLogSubject(ENVIRONMENT), entry);
  await connection.flush();
}

export const wrongDeltaSignature = badConfiguration(
  'a delta with a wrong signature',
  { ...refusal('delta_refused'), inHeartbeat: 'delta_refused' },
  (config, version) => log(config, sealLogEntry(delta(bad(version)), forged(config))),
);

export const poisonedDelta = badConfiguration(
  'a poisoned delta: well signed, and it does not compile',
  refusal('apply_failed'),
  (config, version) => log(config, sealLogEntry(delta(poisoned(version)), config.keys)),
);

export const deltaGap = badConfiguration(
  'a delta gap',
  { series: 'gateway_config_gaps_total', logged: ['snapshot requested'] },
  (config, version) => log(config, sealLogEntry(delta(bad(version + 5)), config.keys)),
);
