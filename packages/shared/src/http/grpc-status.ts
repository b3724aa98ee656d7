/** The names of the gRPC statuses, each at its number. Source: the status codes of gRPC (grpc.io/docs/guides/status-codes). */
export const GRPC_STATUS_NAMES = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
] as const;

export type GrpcStatusName = (typeof GRPC_STATUS_NAMES)[number];

/** The numbers of the gRPC statuses by their names. */
export const GRPC_STATUS = Object.fromEntries(
  GRPC_STATUS_NAMES.map((name, number) => [name, number]),
) as Readonly<Record<GrpcStatusName, number>>;

/** The highest number of a gRPC status. */
export const MAX_GRPC_STATUS = GRPC_STATUS_NAMES.length - 1;

/** The name of a gRPC status; one that is not known counts as UNKNOWN. */
export function grpcStatusName(status: number): GrpcStatusName {
  return GRPC_STATUS_NAMES[status] ?? 'UNKNOWN';
}

/**
 * The statuses with which a server says that it failed, not its caller. Source: the semantic conventions of OpenTelemetry for
 * gRPC, which count these as errors of servers.
 */
const SERVER_ERRORS: ReadonlySet<number> = new Set([
  GRPC_STATUS.UNKNOWN,
  GRPC_STATUS.DEADLINE_EXCEEDED,
  GRPC_STATUS.UNIMPLEMENTED,
  GRPC_STATUS.INTERNAL,
  GRPC_STATUS.UNAVAILABLE,
  GRPC_STATUS.DATA_LOSS,
]);

/** Whether a server that ends a call with this status has failed. */
export function isGrpcServerError(status: number): boolean {
  return SERVER_ERRORS.has(status);
}

const NUMBER = /^\d{1,2}$/;

/**
 * Parses a `grpc-status` field.
 *
 * @returns a number from 0 to 16; UNKNOWN if the value is none, as gRPC clients report it
 */
export function parseGrpcStatus(value: string): number {
  if (!NUMBER.test(value)) return GRPC_STATUS.UNKNOWN;
  const status = Number(value);
  return status > MAX_GRPC_STATUS ? GRPC_STATUS.UNKNOWN : status;
}
