import { randomBytes } from 'node:crypto';
import { snapshotOf } from '@gateway/shared/test/config-publisher';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { configLogSubject, snapshotObject } from '@gateway/shared/messaging/names';
import { sealSnapshot } from '@gateway/shared/snapshot/signed-snapshot';
import { sealLogEntry } from '@gateway/shared/snapshot/signed-log-entry';
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
/** A bad configuration causes no further events, so a longer outage would show nothing more. */
const LONG_ENOUGH_MS = 5000;
const REPORTED = { deadlineMs: 30_000, intervalMs: 50 };
const VERSION = `gateway_config_version{environment="${ENVIRONMENT}"}`;

/** Publishes a bad configuration as the next version. */
type PublishBad = (config: ConfigWorld, version: number) => Promise<void>;

interface Report {
  /** The metric that counts it. */
  readonly series: string;
  /** The message of the log line, and texts in its fields. */
  readonly logged: readonly [message: string, ...also: string[]];
  /** The error in heartbeats until the next good version; undefined if the gateway recovers on its own. */
  readonly inHeartbeat?: string;
}

const refusal = (reason: string): Report => ({
  series: `gateway_config_refused_total{reason="${reason}"}`,
  logged: ['configuration rejected', reason],
});

/** A bad configuration is reported and not served; the old one is served, and the next good one is applied. */
function badConfiguration(
  fault: string,
  report: Report,
  publishBad: PublishBad,
): Scenario<ConfigWorld> {
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
      await publishBad(config, Math.max(...planes.map(({ version }) => version)) + 1);
      for (const { adminUrl, name, counted, version } of planes) {
        await eventually(async () => {
          if ((await metric(adminUrl, report.series)) <= counted) throw new Error('not counted');
          const inHeartbeat = (lastErrors.get(name) ?? '').includes(report.inHeartbeat ?? '');
          // The control plane may have published a snapshot before the next heartbeat.
          const isOver = (await metric(adminUrl, VERSION)) > version;
          if (!inHeartbeat && !isOver) throw new Error('no heartbeat reports it');
        }, REPORTED);
      }
      await run.outage(Math.min(outageMs, LONG_ENOUGH_MS));
      for (const plane of planes) {
        const logged = await hasLogged(plane, ...report.logged);
        run.expectations.hold(logged, `the log of ${plane.name} does not contain the reason`);
        const { status } = await world.management.at(plane.baseUrl).proxy(BAD_ROUTE);
        run.expectations.hold(
          status === 404,
          `${plane.name} serves the bad configuration: ${status}`,
        );
      }
      await run.repair(async () => {
        await world.changeArrives();
        for (const { name } of planes) {
          await eventually(() => {
            if (lastErrors.get(name) !== null) throw new Error(`${name} reports an error`);
          }, REPORTED);
        }
      });
      return run.finish();
    },
  };
}

/** Stores a snapshot, then its pointer. */
async function point(
  { publisher }: ConfigWorld,
  { pointer, bytes }: Awaited<ReturnType<typeof sealSnapshot>>,
): Promise<void> {
  await publisher.objects.putBlob({ name: pointer.object }, bytes);
  await publisher.pointers.put(ENVIRONMENT, JSON.stringify(pointer));
}

/** Other keys under the names of the gateway's keys. */
const forged = ({ keys }: ConfigWorld) =>
  keys.map(({ id }) => ({ id, bytes: new Uint8Array(randomBytes(32)) }));

/** A configuration that must not be served. */
const badContent = () => {
  const route = { name: BAD_ROUTE, upstreams: ['http://127.0.0.1:9'] };
  const { services, routes } = testSnapshot(route, createTokenSecret());
  return { services, routes };
};

const bad = (version: number): Snapshot => ({
  ...snapshotOf(ENVIRONMENT, version),
  ...badContent(),
});

/** A snapshot without the service that its route names. */
const uncompilable = (version: number): Snapshot => ({ ...bad(version), services: [] });

const seal = (snapshot: Snapshot, keys: ConfigWorld['keys']) =>
  sealSnapshot(snapshot, snapshotObject(ENVIRONMENT, snapshot.version), keys);

export const wrongSignature = badConfiguration(
  'a snapshot with a wrong signature',
  { ...refusal('pointer_refused'), inHeartbeat: 'pointer_refused' },
  async (config, version) => {
    await point(config, await seal(bad(version), forged(config)));
  },
);

export const uncompilableSnapshot = badConfiguration(
  'a correctly signed snapshot that does not compile',
  refusal('apply_failed'),
  async (config, version) => {
    await point(config, await seal(uncompilable(version), config.keys));
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

/** A delta from the previous version to that of the snapshot, with the whole content of the snapshot. */
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

export const uncompilableDelta = badConfiguration(
  'a correctly signed delta that does not compile',
  refusal('apply_failed'),
  (config, version) => log(config, sealLogEntry(delta(uncompilable(version)), config.keys)),
);

export const deltaGap = badConfiguration(
  'a missing delta',
  { series: 'gateway_config_gaps_total', logged: ['snapshot requested'] },
  (config, version) => log(config, sealLogEntry(delta(bad(version + 5)), config.keys)),
);
