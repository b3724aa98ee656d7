import { z } from 'zod';
import type { KnownDataPlane } from '../fleet/data-planes.ts';
import { timeView } from './fields.ts';

const servedEnvironmentSchema = z.object({
  environment: z.string(),
  /** What it serves; null where it serves nothing of it. */
  version: z.int().nullable(),
  newest_version: z.int(),
  versions_behind: z.int(),
  /** Since the first version that it does not serve was published; null where that is not known. */
  seconds_behind: z.int().nullable(),
  /** Why it does not serve the newest that it knows of. */
  last_error: z.string().nullable(),
});

/** A data plane as the API shows it, by its last heartbeat. Source: DESIGN section 4 "Heartbeats". */
export const dataPlaneViewSchema = z.object({
  id: z.string(),
  region: z.string(),
  /** null where it does not tell. */
  gateway_version: z.string().nullable(),
  started_at: timeView,
  last_seen_at: timeView,
  /** It has missed three heartbeats, so it counts as live no more. */
  stale: z.boolean(),
  /** Requests under way when it last told. */
  in_flight: z.int(),
  /** How far the clock of NATS is ahead of its own, ms; null where it does not know, or does not tell. */
  server_ahead_ms: z.int().nullable(),
  /** The first of those of its environments. */
  last_error: z.string().nullable(),
  environments: z.array(servedEnvironmentSchema),
});

type ServedEnvironment = z.infer<typeof servedEnvironmentSchema>;
export type DataPlaneView = z.infer<typeof dataPlaneViewSchema>;

export interface EnvironmentVersion {
  readonly environment: string;
  readonly version: number;
}

export interface DataPlaneContext {
  /** By the monotonic clock that it was heard by. */
  readonly nowMs: number;
  /** The same moment, ms since the Unix epoch. */
  readonly wallMs: number;
  /** The newest versions of the environments that may be shown. */
  readonly newest: readonly EnvironmentVersion[];
  /** Since when the version after this one is published, s; undefined where that is not known. */
  readonly secondsBehind: (served: EnvironmentVersion) => number | undefined;
  /** Whether all environments may be shown. */
  readonly showsAll: boolean;
}

/** What of its versions is behind the newest ones, among the environments that may be shown. */
export function behindOf(
  { heartbeat }: KnownDataPlane,
  newest: readonly EnvironmentVersion[],
): readonly EnvironmentVersion[] {
  return newest
    .map(({ environment, version }) => ({
      environment,
      version: heartbeat.config_versions[environment] ?? 0,
      isBehind: (heartbeat.config_versions[environment] ?? 0) < version,
    }))
    .filter(({ isBehind }) => isBehind);
}

export function dataPlaneView(known: KnownDataPlane, context: DataPlaneContext): DataPlaneView {
  const { heartbeat, heardMs, liveUntilMs } = known;
  const { nowMs, wallMs, newest, secondsBehind, showsAll } = context;
  const environments = newest.map((one): ServedEnvironment => {
    const { environment } = one;
    const version = heartbeat.config_versions[environment] ?? null;
    // What was applied may not be noted as published yet.
    const versionsBehind = Math.max(0, one.version - (version ?? 0));
    return {
      ...{ environment, version, newest_version: one.version, versions_behind: versionsBehind },
      seconds_behind:
        versionsBehind === 0 ? 0 : (secondsBehind({ environment, version: version ?? 0 }) ?? null),
      last_error: heartbeat.config_errors[environment] ?? null,
    };
  });
  const firstError = environments.find(({ last_error }) => last_error !== null)?.last_error ?? null;
  return {
    id: heartbeat.id,
    region: heartbeat.region,
    gateway_version: heartbeat.gateway_version,
    started_at: timeOf(heartbeat.started_at_ms),
    last_seen_at: timeOf(wallMs - (nowMs - heardMs)),
    stale: liveUntilMs < nowMs,
    in_flight: heartbeat.in_flight,
    server_ahead_ms: heartbeat.server_ahead_ms,
    // It names its environment, which it does not say apart where the data plane is of an older version.
    last_error: firstError ?? (showsAll ? heartbeat.last_error : null),
    environments,
  };
}

/** A data plane's clock may say anything; no time that there is stands for one that there is not. */
function timeOf(ms: number): string {
  const time = new Date(ms);
  return (Number.isNaN(time.getTime()) ? new Date(0) : time).toISOString();
}
