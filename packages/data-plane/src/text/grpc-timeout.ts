/** The units of `grpc-timeout`, in milliseconds. */
const UNIT_MS: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
};

const TIMEOUT = /^(\d{1,8})([HMSmun])$/;
const MAX_VALUE = 99_999_999;
/** Below it, microseconds are sent. */
const FINE_MS = 1000;

/**
 * Parses a `grpc-timeout` (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md): one to eight digits and a unit.
 *
 * @returns milliseconds, which need not be whole; undefined if it is malformed
 */
export function parseGrpcTimeoutMs(text: string): number | undefined {
  const [, digits = '', unit = ''] = TIMEOUT.exec(text) ?? [];
  const unitMs = UNIT_MS[unit];
  return unitMs === undefined ? undefined : Number(digits) * unitMs;
}

/**
 * A `grpc-timeout` of so many milliseconds. It is rounded down, so that nobody works longer than the call is wanted, but
 * at least a microsecond.
 */
export function grpcTimeoutText(ms: number): string {
  if (ms < FINE_MS) return `${Math.max(1, Math.floor(ms / 1e-3))}u`;
  if (ms <= MAX_VALUE) return `${Math.floor(ms)}m`;
  return `${Math.min(MAX_VALUE, Math.floor(ms / 1000))}S`;
}
