import { fieldValue, type HeaderFields } from '@gateway/http/fields/header-fields';
import { GRPC_STATUS } from '@gateway/shared/http/grpc';
import { parseGrpcStatus } from '@gateway/shared/http/grpc-status';

const OK = 200;
const STATUS_FIELD = 'grpc-status';

/**
 * The gRPC status with which a response ends.
 *
 * A status of HTTP other than 200 says what has happened if no gRPC status does. With 200, a missing or malformed one is
 * UNKNOWN, as gRPC clients report it.
 *
 * @param status that of HTTP
 * @param end the fields that end the response: its trailers, or its head if that is all of it (trailers-only). A
 * `grpc-status` in another head means nothing to gRPC clients
 * @returns 0 to 16; undefined: none came
 */
export function responseStatus(status: number, end: HeaderFields | undefined): number | undefined {
  const value = end && fieldValue(end, STATUS_FIELD);
  if (value !== undefined) return parseGrpcStatus(value);
  return status === OK ? GRPC_STATUS.UNKNOWN : undefined;
}
