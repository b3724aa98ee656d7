/** Since this version a server that is killed keeps its streams. */
const OLDEST_SAFE = [2, 10, 23] as const;
const OLDEST_TESTED = [2, 10, 0] as const;

/** The version of nats-server from which on the gateway accepts it. */
export const OLDEST_NATS_SERVER = OLDEST_SAFE.join('.');

/**
 * Why a nats-server of this version is refused, or undefined if it is accepted. Versions before 2.10.23 may forget a
 * stream when the server is killed (Jepsen, "NATS 2.12.1", section on 2.10.22; nats-server issue 6888).
 *
 * @param version as the server announces it, such as `2.15.1` or `2.12.0-RC.2`
 */
export function refuseServerVersion(version: string): string | undefined {
  const numbers = /^v?(\d+)\.(\d+)\.(\d+)/.exec(version)?.slice(1).map(Number);
  if (numbers === undefined) return `nats-server has the version ${version}, which is not one`;
  if (isBefore(numbers, OLDEST_TESTED)) return refusal(version, 'it is older than any tested one');
  if (isBefore(numbers, OLDEST_SAFE))
    return refusal(version, 'it may lose streams when it is killed');
  return undefined;
}

function refusal(version: string, why: string): string {
  return `nats-server ${version} is not supported: ${why}. Install ${OLDEST_NATS_SERVER} or newer.`;
}

function isBefore(numbers: readonly number[], oldest: readonly number[]): boolean {
  const index = oldest.findIndex((one, at) => numbers[at] !== one);
  return index !== -1 && (numbers[index] ?? 0) < (oldest[index] ?? 0);
}
