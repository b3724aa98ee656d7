/** The names of the gRPC statuses, each at its number. */
const NAMES = [
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

/** Those with which a server says that it has failed. */
const FAILURES: ReadonlySet<string> = new Set<(typeof NAMES)[number]>([
  'UNKNOWN',
  'DEADLINE_EXCEEDED',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
]);

/** A gRPC status with its name, such as `14 UNAVAILABLE`. */
export function grpcStatusText(status: number): string {
  const name = NAMES[status];
  return name === undefined ? String(status) : `${status} ${name}`;
}

/** The gRPC status of this number or name, in any case; undefined if there is none. */
export function grpcStatusOf(text: string): number | undefined {
  const names: readonly string[] = NAMES;
  const status = /^\d{1,2}$/.test(text) ? Number(text) : names.indexOf(text.toUpperCase());
  return names[status] === undefined ? undefined : status;
}

/** Whether the gRPC status says that the server has failed. */
export function isGrpcFailure(status: number | null | undefined): boolean {
  return FAILURES.has(NAMES[status ?? 0] ?? '');
}
