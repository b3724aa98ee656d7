import type { Heartbeat, UnusableElement } from '@gateway/shared/heartbeats/heartbeat';
import { ELEMENT_KINDS } from '@gateway/shared/snapshot/read-element';
import { covers, type TokenReach } from '@gateway/shared/tokens/scopes';
import { z } from 'zod';
import { exampleId } from '@gateway/shared/definitions/fields';
import { timeField } from '../fields/response-fields.ts';
import { processUseView } from './process-use-view.ts';

/** A data plane as its last heartbeat describes it. */
export interface KnownDataPlane {
  readonly heartbeat: Heartbeat;
  /** When the heartbeat arrived, by the monotonic clock of this process. */
  readonly heardMs: number;
  /** The data plane counts as live until then. */
  readonly liveUntilMs: number;
}

const unusableSchema = z
  .object({
    kind: z.enum(ELEMENT_KINDS).meta({ description: 'What it is.', examples: ['route'] }),
    id: z.string().meta({ description: 'Its id.', examples: [exampleId('rte')] }),
    name: z
      .string()
      .nullable()
      .meta({ description: 'Of a route: its name.', examples: ['charges'] }),
    reason: z.string().meta({
      description: 'Why the data plane cannot use it.',
      examples: ['auth.type Invalid input'],
    }),
  })
  .meta({ description: 'A part of the configuration that a data plane cannot use.' });

const servedEnvironmentSchema = z.object({
  environment: z
    .string()
    .meta({ description: 'The name of the environment.', examples: ['production'] }),
  version: z
    .int()
    .nullable()
    .meta({ description: 'The version that it serves. null: none.', examples: [42] }),
  newest_version: z.int().meta({ description: 'The newest published version.', examples: [42] }),
  versions_behind: z.int().meta({ description: 'How many versions it is behind.', examples: [0] }),
  seconds_behind: z
    .int()
    .nullable()
    .meta({
      examples: [0],
      description:
        'The seconds since the first version that it does not serve was published. null: not known.',
    }),
  last_error: z
    .string()
    .nullable()
    .meta({
      description: 'Why it does not serve the newest version that it knows of. null: it does.',
      examples: [null],
    }),
  unusable_count: z.int().meta({
    description:
      'How many routes, services and tokens of the served version it cannot use. It refuses requests to such ' +
      'routes with 503 `route_unusable`, and does not know such tokens.',
    examples: [0],
  }),
  unusable: z.array(unusableSchema).meta({
    description: 'The first of them, without those that the token does not cover.',
    examples: [[]],
  }),
});

/** The schema of `dataPlaneView`. */
export const dataPlaneViewSchema = z
  .object({
    id: z.string().meta({ description: 'The id of the data plane.', examples: ['dp-7f9c-1'] }),
    region: z.string().meta({ description: 'Its region.', examples: ['eu-west'] }),
    gateway_version: z
      .string()
      .nullable()
      .meta({
        description: 'The version of its software. null: it does not report it.',
        examples: ['0.1.0'],
      }),
    started_at: timeField('When it started.'),
    last_seen_at: timeField('When its last heartbeat arrived.'),
    stale: z.boolean().meta({
      description: 'Whether it missed three heartbeats. Then it is not live.',
      examples: [false],
    }),
    in_flight: z
      .int()
      .meta({ description: 'The requests in flight at its last heartbeat.', examples: [12] }),
    ...processUseView,
    server_ahead_ms: z
      .int()
      .nullable()
      .meta({
        description:
          'The milliseconds that the clock of NATS is ahead of its own. null: not known.',
        examples: [0],
      }),
    last_error: z
      .string()
      .nullable()
      .meta({
        description: 'The first error of its environments. null: there is none.',
        examples: [null],
      }),
    environments: z
      .array(servedEnvironmentSchema)
      .meta({ description: 'The configuration that it serves, by environment.' }),
  })
  .meta({ id: 'DataPlane', description: 'A data plane as its last heartbeat describes it.' });

type ServedEnvironment = z.infer<typeof servedEnvironmentSchema>;
export type DataPlaneView = z.infer<typeof dataPlaneViewSchema>;

export interface EnvironmentVersion {
  readonly environment: string;
  readonly version: number;
}

export interface DataPlaneContext {
  /** By the monotonic clock of `KnownDataPlane`. */
  readonly nowMs: number;
  /** The same moment, ms since the Unix epoch. */
  readonly wallMs: number;
  /** The newest versions of the environments that may be shown. */
  readonly newest: readonly EnvironmentVersion[];
  /** Seconds since the version after this one was published; undefined: not known. */
  readonly secondsBehind: (served: EnvironmentVersion) => number | undefined;
  /** Whether all environments may be shown. */
  readonly showsAll: boolean;
  /** Whom it is shown to. */
  readonly token: TokenReach;
}

/** The versions that a data plane serves although newer ones are published. */
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

/** A data plane as the API shows it. */
export function dataPlaneView(known: KnownDataPlane, context: DataPlaneContext): DataPlaneView {
  const { heartbeat, heardMs, liveUntilMs } = known;
  const { nowMs, wallMs, newest, secondsBehind, showsAll, token } = context;
  const environments = newest.map((one): ServedEnvironment => {
    const { environment } = one;
    const version = heartbeat.config_versions[environment] ?? null;
    // A data plane may serve a version before it is marked as published.
    const versionsBehind = Math.max(0, one.version - (version ?? 0));
    const behind = secondsBehind({ environment, version: version ?? 0 }) ?? null;
    return {
      environment,
      version,
      newest_version: one.version,
      versions_behind: versionsBehind,
      seconds_behind: versionsBehind === 0 ? 0 : behind,
      last_error: heartbeat.config_errors[environment] ?? null,
      unusable_count: heartbeat.unusable_counts[environment] ?? 0,
      unusable: heartbeat.unusable_elements.filter(
        (element) => element.environment === environment && isShown(element, token),
      ),
    };
  });
  const firstError = environments.find(({ last_error }) => last_error !== null)?.last_error ?? null;
  return dataPlaneViewSchema.parse({
    ...heartbeat,
    started_at: timeOf(heartbeat.started_at_ms),
    last_seen_at: timeOf(wallMs - (nowMs - heardMs)),
    stale: liveUntilMs < nowMs,
    // The error names its environment only in its text, so it is shown only to tokens of all environments.
    last_error: firstError ?? (showsAll ? heartbeat.last_error : null),
    environments,
  });
}

/** A token of which nothing is known but its id is shown only to who sees all tokens. */
function isShown({ kind, name }: UnusableElement, token: TokenReach): boolean {
  if (kind === 'service') return true;
  if (kind === 'route') return covers(token.routes, name ?? '*');
  return covers(token.routes, '*') && covers(token.environments, '*');
}

/** The clock of a data plane may be wrong by any amount: a time out of range becomes 1970. */
function timeOf(ms: number): Date {
  const time = new Date(ms);
  return Number.isNaN(time.getTime()) ? new Date(0) : time;
}
