import { GRPC_STATUS, type GrpcStatusName } from '../http/grpc.ts';
import { ERROR_TABLE, type ErrorCode } from './error-table.ts';

/*
 * The gRPC status of each error. Clients repeat UNAVAILABLE by their usual policies, so it stands only for what was
 * certainly not carried out, or has a response that had begun.
 */

/** By the HTTP status of the error. */
const BY_HTTP_STATUS: Readonly<Record<number, GrpcStatusName>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  405: 'UNIMPLEMENTED',
  408: 'DEADLINE_EXCEEDED',
  409: 'FAILED_PRECONDITION',
  412: 'FAILED_PRECONDITION',
  413: 'RESOURCE_EXHAUSTED',
  414: 'INVALID_ARGUMENT',
  415: 'INVALID_ARGUMENT',
  421: 'FAILED_PRECONDITION',
  429: 'RESOURCE_EXHAUSTED',
  431: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  501: 'UNIMPLEMENTED',
  502: 'UNKNOWN',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
  505: 'UNIMPLEMENTED',
};

/** Codes with another one than their HTTP status has. */
const BY_CODE: Partial<Readonly<Record<ErrorCode, GrpcStatusName>>> = {
  // What a server answers to a method that it does not have, and what clients make of a plain 404.
  route_not_found: 'UNIMPLEMENTED',
  not_found: 'UNIMPLEMENTED',
  response_timeout: 'CANCELLED',
  // The first call runs: the caller may try again.
  idempotency_in_progress: 'ABORTED',
  idempotency_outcome_unknown: 'UNKNOWN',
  name_conflict: 'ALREADY_EXISTS',
  match_conflict: 'ALREADY_EXISTS',
  // The only 503 after which the upstream may have carried out the call.
  gateway_stopping: 'UNKNOWN',
};

/** Codes with another one if nothing was sent to an upstream. */
const IF_UNSENT: Partial<Readonly<Record<ErrorCode, GrpcStatusName>>> = {
  upstream_unavailable: 'UNAVAILABLE',
};

/**
 * Codes with another one if the response had begun. No client repeats by itself a call of which it has the head (gRFC A6),
 * so this may be what clients say of a server that goes away then.
 */
const IF_BEGUN: Partial<Readonly<Record<ErrorCode, GrpcStatusName>>> = {
  upstream_unavailable: 'UNAVAILABLE',
};

/**
 * The name of the gRPC status of an error.
 *
 * @param mayHaveSent whether any part of the call may have reached an upstream
 * @throws Error if the code has none
 */
export function grpcNameOfError(code: ErrorCode, mayHaveSent: boolean): GrpcStatusName {
  const unsent = mayHaveSent ? undefined : IF_UNSENT[code];
  const name = unsent ?? BY_CODE[code] ?? BY_HTTP_STATUS[ERROR_TABLE[code].status];
  if (name === undefined) throw new Error(`${code} has no gRPC status`);
  return name;
}

/** As `grpcNameOfError`: the number, which `grpc-status` carries. */
export function grpcStatusOfError(code: ErrorCode, mayHaveSent: boolean): number {
  return GRPC_STATUS[grpcNameOfError(code, mayHaveSent)];
}

/** The name of the gRPC status of an error that ends a response after its head. */
export function grpcNameOfBreak(code: ErrorCode): GrpcStatusName {
  return IF_BEGUN[code] ?? grpcNameOfError(code, true);
}

/** The gRPC statuses of an error in words, for documents. */
export function grpcStatusText(code: ErrorCode): string {
  const status = grpcNameOfError(code, true);
  const others = new Map<GrpcStatusName, string[]>();
  const add = (name: GrpcStatusName, when: string) => {
    if (name !== status) others.set(name, [...(others.get(name) ?? []), when]);
  };
  add(grpcNameOfError(code, false), 'nothing was sent');
  add(grpcNameOfBreak(code), 'the response had begun');
  return [status, ...[...others].map(([name, when]) => `${name} if ${when.join(' or ')}`)].join(
    ', ',
  );
}
