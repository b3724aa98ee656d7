/** What the fields of call sites are called in the log. A name that is not here gets the prefix `gateway.`. */
const NAMES: Readonly<Record<string, string>> = {
  // Of the log data model and the semantic conventions of OpenTelemetry, as in spans.
  trace_id: 'trace_id',
  reason: 'error.message',
  method: 'http.request.method',
  path: 'url.path',
  status: 'http.response.status_code',
  client_ip: 'client.address',
  hostname: 'server.address',
  // As in spans.
  request_id: 'gateway.request.id',
  token_id: 'gateway.token.id',
  upstream: 'gateway.upstream.id',
  service: 'gateway.service.id',
  took_ms: 'gateway.duration_ms',
};

/** The name of a field in the log, from its name at call sites. */
export function logFieldName(field: string): string {
  return NAMES[field] ?? `gateway.${field}`;
}

/** The fields of a line, from those that a call site gives. `err` is an error; only its name, message and stack are kept. */
export function logFields(given: object): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    if (name === 'err') Object.assign(fields, exceptionFields(value));
    else fields[logFieldName(name)] = value;
  }
  return fields;
}

/** What the fields of `err` are called. */
export const EXCEPTION_FIELDS = [
  'exception.type',
  'exception.message',
  'exception.stacktrace',
] as const;

function exceptionFields(thrown: unknown): Record<string, unknown> {
  if (!(thrown instanceof Error)) return { 'exception.message': String(thrown) };
  const { code } = thrown as { readonly code?: unknown };
  return {
    'exception.type': typeof code === 'string' ? code : thrown.name,
    'exception.message': thrown.message,
    'exception.stacktrace': stackOf(thrown),
  };
}

const MAX_CAUSES = 5;

function stackOf(error: Error): string {
  const stacks: string[] = [];
  let next: unknown = error;
  while (next instanceof Error && stacks.length < MAX_CAUSES) {
    stacks.push(next.stack ?? String(next));
    next = next.cause;
  }
  return stacks.join('\ncaused by: ');
}
