const GRPC = 'application/grpc';
const PLUS = 0x2b;
const SEMICOLON = 0x3b;
const C = 0x63;
const LOWER_CASE = 0x20;

/**
 * Whether a request with this `Content-Type` is a gRPC call over HTTP/2 framing: the media type `application/grpc`, alone,
 * with a format (`application/grpc+proto`) or with parameters, in any case. gRPC-Web and Connect are other protocols.
 */
export function isGrpcContentType(contentType: string | undefined): boolean {
  if (contentType === undefined) return false;
  // Tells nearly all other types apart without making a string.
  if ((contentType.charCodeAt(GRPC.length - 1) | LOWER_CASE) !== C) return false;
  if (contentType.length > GRPC.length) {
    const next = contentType.charCodeAt(GRPC.length);
    if (next !== PLUS && next !== SEMICOLON) return false;
  }
  return contentType.startsWith(GRPC) || contentType.slice(0, GRPC.length).toLowerCase() === GRPC;
}

/** The statuses of gRPC by name (https://grpc.github.io/grpc/core/md_doc_statuscodes.html). */
export const GRPC_STATUS = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;

export type GrpcStatusName = keyof typeof GRPC_STATUS;
