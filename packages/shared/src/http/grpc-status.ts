import { GRPC_STATUS, type GrpcStatusName } from './grpc.ts';

const NAMES = Object.keys(GRPC_STATUS) as GrpcStatusName[];

/** The highest number of a gRPC status. */
export const MAX_GRPC_STATUS = NAMES.length - 1;

/** The name of a gRPC status; one that is not known counts as UNKNOWN. */
export function nameOfGrpcStatus(status: number): GrpcStatusName {
  return NAMES[status] ?? 'UNKNOWN';
}

/** The name of a failure with this gRPC status, in details and metrics, such as `grpc_unavailable`. */
export function grpcFailureName(status: number): `grpc_${string}` {
  return `grpc_${nameOfGrpcStatus(status).toLowerCase()}`;
}

/**
 * The statuses with which a server says that it failed, not its caller. Source: the semantic conventions of OpenTelemetry for
 * gRPC, which count these as errors of servers.
 */
const SERVER_ERRORS: ReadonlySet<number> = new Set<number>([
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
