import type { GrpcStatusName } from '../http/grpc.ts';

/** Source: the Connect protocol, "HTTP to error code" (connectrpc.com/docs/protocol). */
const BY_STATUS: Readonly<Record<number, GrpcStatusName>> = {
  400: 'INTERNAL',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'UNIMPLEMENTED',
  429: 'UNAVAILABLE',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'UNAVAILABLE',
};

/**
 * What a client of Connect makes of an HTTP error without an error of its protocol: with gRPC also beside a `grpc-status`.
 */
export function connectCodeOf(status: number): GrpcStatusName {
  return BY_STATUS[status] ?? 'UNKNOWN';
}
