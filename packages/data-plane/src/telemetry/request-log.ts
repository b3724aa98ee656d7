import type { Clock, Timer } from '@gateway/shared/clock';
import { decimalText, thousandthsText, threeDigits } from '../text/decimal-text.ts';
import type { RequestRecord, Outcome } from '@gateway/shared/records/record';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { severityOf } from '@gateway/shared/telemetry/severity';
import { symbols } from 'pino';
import type { CompiledUpstream, RouteSettings } from '../routing-table/routing-table.ts';

interface LineWriter {
  write(lines: string): void;
}

/** A finished request and the parts of the configuration that it got to. */
export interface LoggedRequest {
  readonly record: RequestRecord;
  /** The `namesText` of its version; undefined if it got none. */
  readonly names: string | undefined;
  /** The name of its service. */
  readonly service: string | undefined;
  readonly upstream: Pick<CompiledUpstream, 'id' | 'url'> | undefined;
}

export interface RequestLog {
  /** Writes one line for a request. */
  add(request: LoggedRequest): void;
  /** Writes the waiting lines; call it before the process ends. */
  flush(): void;
}

/** Lines that are built in a row, while the code is in the CPU caches. */
const BURST_LINES = 32;
/** The longest wait for a burst that is not full. */
const FLUSH_MS = 200;

/**
 * Writes the log lines of requests at level `info`, directly to the logger's destination: formatting by
 * the logger costs more than all other bookkeeping of a request.
 */
export function createRequestLog(log: Logger, clock: Clock): RequestLog {
  const stream = (log as unknown as Record<symbol, LineWriter>)[symbols.streamSym];
  // The fields of the process, as in every other line.
  const process = JSON.stringify(log.bindings()).slice(1, -1).replace(/.$/, '$&,');
  let waiting: LoggedRequest[] = [];
  let timer: Timer | undefined;

  function flush(): void {
    timer?.cancel();
    timer = undefined;
    const burst = waiting;
    waiting = [];
    let lines = '';
    for (const line of burst) lines += lineOf(line, process);
    if (lines !== '') stream?.write(lines);
  }

  return {
    add(request) {
      if (!log.isLevelEnabled('info')) return;
      waiting.push(request);
      timer ??= clock.setTimer(FLUSH_MS, flush);
      if (waiting.length >= BURST_LINES) flush();
    },
    flush,
  };
}

const PLAIN = /^[\w.~/:%@!$&'()*+,;=?[\]-]*$/;

/** As JSON. Most names, methods, paths and URLs need no escape. */
function quoted(value: string): string {
  return PLAIN.test(value) ? `"${value}"` : JSON.stringify(value);
}

/** The names of the configuration that a request got to, as they stand in its line. */
export interface LoggedNames {
  readonly environment: string | null;
  readonly route: string | null;
  readonly version: string | null;
  readonly service: string | undefined;
}

/** The part of a line that is the same for all requests of a version. */
export function namesText({ environment, route, version, service }: LoggedNames): string {
  return flatText(
    field('gateway.environment', environment) +
      text('gateway.route.name', route) +
      field('gateway.route.version', version) +
      field('gateway.service.name', service),
  );
}

function namesOf({ record, service }: LoggedRequest): string {
  const { environment, route, route_version: version } = record;
  return namesText({ environment, route, version, service });
}

function upstreamText(upstream: LoggedRequest['upstream']): string {
  if (upstream === undefined) return '';
  return field('gateway.upstream.id', upstream.id) + text('gateway.upstream.url', upstream.url);
}

/** A copy in one piece. A text is a tree of its parts until it is written, which takes longer for many parts. */
function flatText(parts: string): string {
  return Buffer.from(parts).toString();
}

/**
 * A line with the same names as in spans and in the lines of the logger. Fields without a value are left out. Ids, codes
 * and addresses are made by the gateway, and names of the configuration are checked: they need no escape.
 */
function lineOf(line: LoggedRequest, process: string): string {
  const { record } = line;
  const { timing, status } = record;
  return (
    `${SEVERITY}"timestamp":"${isoTime(record.received_at_ms)}",${process}"trace_id":"${record.trace_id}"` +
    `,"gateway.request.id":"${record.id}"${line.names ?? namesOf(line)}` +
    `,"http.request.method":${quoted(record.method)},"url.path":${quoted(record.path)}` +
    (status === null ? '' : `,"http.response.status_code":${decimalText(status)}`) +
    (record.grpc_status === null ? '' : `,"rpc.grpc.status_code":${record.grpc_status}`) +
    `,"gateway.outcome":"${record.outcome}"${field('gateway.error.code', record.error_code)}` +
    `,"http.request.body.size":${decimalText(record.request_bytes)}` +
    `,"http.response.body.size":${decimalText(record.response_bytes)}${upstreamText(line.upstream)}` +
    `,"gateway.retry_count":${decimalText(record.retry_count)}` +
    `,"gateway.latency_ms":${msText(timing.gateway_ms)},"gateway.duration_ms":${msText(timing.total_ms)}` +
    msField('gateway.upstream_ms', timing.upstream_ms) +
    msField('gateway.receiving_ms', timing.receiving_ms) +
    msField('gateway.waiting_ms', timing.waiting_ms) +
    msField('gateway.sending_ms', timing.sending_ms) +
    field('gateway.token.id', record.token_id) +
    `,"client.address":"${record.client_ip}","body":"request"}\n`
  );
}

const SEVERITY = `${JSON.stringify(severityOf('info')).slice(0, -1)},`;

function field(name: string, value: string | null = null): string {
  return value === null ? '' : `,"${name}":"${value}"`;
}

/** A field whose value may need an escape. */
function text(name: string, value: string | null = null): string {
  return value === null ? '' : `,"${name}":${quoted(value)}`;
}

/** A time that most requests do not have. */
function msField(name: string, ms: number | null): string {
  return ms === null || ms === 0 ? '' : `,"${name}":${msText(ms)}`;
}

/** Formats milliseconds with three decimals; much cheaper than general number formatting. */
function msText(ms: number): string {
  return thousandthsText(Math.round(ms * 1000));
}

let isoSecond = Number.NaN;
let iso = '';

/** RFC 3339 with milliseconds; the text up to the second is built once per second. */
function isoTime(ms: number): string {
  const second = Math.floor(ms / 1000);
  if (second !== isoSecond) {
    isoSecond = second;
    iso = new Date(second * 1000).toISOString().slice(0, -'000Z'.length);
  }
  return `${iso}${threeDigits(ms - second * 1000)}Z`;
}

/** Always logged while the log of the route is on: an operator who looks for a failure must find it. */
const FAILURES: ReadonlySet<Outcome> = new Set([
  'upstream_error',
  'upstream_unavailable',
  'timeout',
]);

/**
 * Whether a finished request has a line in the log.
 *
 * @param policy that of its route; undefined: it has no route
 * @param random returns numbers in [0, 1). Not derived from the trace id, which a caller may choose.
 */
export function isLogged(
  policy: RouteSettings['access_log'] | undefined,
  outcome: Outcome,
  random: () => number,
): boolean {
  if (policy === undefined) return true;
  if (!policy.enabled) return false;
  const { sample_ratio: ratio } = policy;
  return ratio === 1 || FAILURES.has(outcome) || random() < ratio;
}
