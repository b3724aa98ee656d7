const OLDEST = [2, 10, 23] as const;

/** The version of nats-server from which on the gateway accepts it. */
export const OLDEST_NATS_SERVER = OLDEST.join('.');

/**
 * Why a nats-server of this version is refused, or undefined if it is accepted. Versions up to 2.10.22 may forget a
 * stream when the server is killed (nats-server issue 6888; Jepsen, "NATS 2.12.1", saw it in 2.10.20 to 2.10.22).
 *
 * @param version as the server announces it, such as `2.15.1` or `2.12.0-RC.2`
 */
export function refuseServerVersion(version: string): string | undefined {
  const numbers = /^v?(\d+)\.(\d+)\.(\d+)/.exec(version)?.slice(1).map(Number);
  if (numbers === undefined) return `nats-server has the version ${version}, which is not one`;
  if (!isBefore(numbers, OLDEST)) return undefined;
  return (
    `nats-server ${version} is not supported: versions before ${OLDEST_NATS_SERVER} may lose streams when they are ` +
    `killed. Install ${OLDEST_NATS_SERVER} or newer.`
  );
}

function isBefore(numbers: readonly number[], oldest: readonly number[]): boolean {
  const index = oldest.findIndex((one, at) => numbers[at] !== one);
  return index !== -1 && (numbers[index] ?? 0) < (oldest[index] ?? 0);
}
