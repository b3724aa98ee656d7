import { countedText } from '@gateway/client/measures';
import type { Status } from './status-lines.ts';

const DAY_MS = 86_400_000;
/** A token that ends within these days needs a successor. */
const ENDING_MS = 7 * DAY_MS;

/** What needs a look, in sentences; the gravest first. */
export function problemsOf(
  { token, environment, services, data_planes: dataPlanes }: Status,
  nowMs: number,
): string[] {
  return [
    ...(dataPlanes === null ? [] : planeProblems(dataPlanes)),
    ...['unhealthy', 'degraded'].flatMap((status) => serviceProblem(services ?? [], status)),
    ...(environment !== null && environment.config_version === 0
      ? [`Environment ${environment.name} has no published version.`]
      : []),
    ...tokenProblem(token.expires_at, nowMs),
  ];
}

function planeProblems(dataPlanes: NonNullable<Status['data_planes']>): string[] {
  const live = dataPlanes.filter(({ stale }) => !stale);
  const stale = dataPlanes.filter((one) => one.stale).map(({ id }) => id);
  const behind = live.flatMap(({ id, environments }) =>
    environments
      .filter((one) => one.versions_behind > 0)
      .map(
        (one) =>
          `${id} is ${countedText(one.versions_behind, 'version')} behind in ${one.environment}.`,
      ),
  );
  const unusable = live.flatMap(({ id, environments }) =>
    environments
      .filter((one) => one.unusable_count > 0)
      .map(
        (one) =>
          `${id} cannot use ${countedText(one.unusable_count, 'part')} of ${one.environment}.`,
      ),
  );
  return [
    ...(live.length === 0 ? ['No data plane is live.'] : []),
    ...(stale.length === 0 ? [] : [`No heartbeat comes from ${stale.join(', ')}.`]),
    ...behind,
    ...unusable,
  ];
}

function serviceProblem(services: NonNullable<Status['services']>, status: string): string[] {
  const names = services.filter((one) => one.status === status).map(({ name }) => name);
  if (names.length === 0) return [];
  return [`${names.length === 1 ? 'Service' : 'Services'} ${names.join(', ')}: ${status}.`];
}

function tokenProblem(expiresAt: string | null, nowMs: number): string[] {
  if (expiresAt === null || Date.parse(expiresAt) - nowMs > ENDING_MS) return [];
  return [`The token ends at ${expiresAt}.`];
}
