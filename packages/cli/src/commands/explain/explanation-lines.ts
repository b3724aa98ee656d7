import type { components } from '@gateway/client';
import { bodyTimesText, deadlineText } from '@gateway/client/explained-times';
import { grpcStatusText } from '@gateway/client/grpc-status';
import { countText, msText } from '@gateway/client/measures';
import { locationsText, rewriteText, waysOf, wayText } from '@gateway/client/route-ways';
import { printable } from '../../output/printable.ts';
import { labelled } from '../../output/wrap.ts';
import type { Terminal } from '../../terminal/terminal.ts';

type Explanation = components['schemas']['Explanation'];
type Stage = Explanation['stages'][number];
type ReachedBy = NonNullable<Explanation['reached_by']>;
type Look = Pick<Terminal, 'columns' | 'unicode' | 'colour'>;

const LABEL_WIDTH = 14;

/** An explanation as a person reads it: how it ends, each stage, then what the decision was made of. */
export function explanationLines(explanation: Explanation, look: Look): string[] {
  const { outcome, stages, data_plane, region, environment, config_version } = explanation;
  // A request may be refused before its environment is known.
  const configuration =
    environment === null ? '' : `, ${environment} version ${config_version ?? 'none'}`;
  return [
    ...labelled('', `${headline(outcome)}: ${printable(outcome.reason)}`, look.columns).map(
      (line) => look.colour('bold', line),
    ),
    look.colour('dim', printable(`${data_plane} in ${region}${configuration}`)),
    '',
    ...stagesLines(stages, look),
    '',
    ...upstreamLines(explanation, look),
    ...facts(explanation).flatMap(([name, text]) =>
      labelled(`  ${name.padEnd(LABEL_WIDTH)}`, printable(text), look.columns),
    ),
  ];
}

/** Such as `refuse with 429 rate_limit_exceeded at quota`; of a gRPC call its status too. */
function headline(outcome: Explanation['outcome']) {
  const { decision, status, code, stage, grpc_status: grpcStatus, retry_after_seconds } = outcome;
  const grpc = grpcStatus === null ? null : `gRPC ${grpcStatusText(grpcStatus)}`;
  const answer = [status, code, grpc].filter((part) => part !== null).join(' ');
  const retry =
    retry_after_seconds === null ? '' : `, retry after ${msText(retry_after_seconds * 1000)}`;
  const where = decision === 'forward' ? '' : ` at ${stage}`;
  return `${decision}${answer === '' ? '' : ` with ${answer}`}${where}${retry}`;
}

/** A line for each stage that the request comes to, and one for all others. */
function stagesLines(stages: readonly Stage[], look: Look): string[] {
  const reached = stages.filter(({ decision }) => decision !== 'not_reached');
  const others = stages.filter(({ decision }) => decision === 'not_reached');
  const width = Math.max(...reached.map(({ name }) => name.length), 0);
  const lines = reached.flatMap(({ name, decision, reason }) => {
    const [mark, style] = markOf(decision, look.unicode);
    return labelled(`  ${mark} ${name.padEnd(width)}  `, printable(reason), look.columns).map(
      (line) => look.colour(style, line),
    );
  });
  if (others.length === 0) return lines;
  const names = `not reached: ${others.map(({ name }) => name).join(', ')}`;
  const dim = labelled(`  ${look.unicode ? '·' : '.'} `, names, look.columns);
  return [...lines, ...dim.map((line) => look.colour('dim', line))];
}

function markOf(
  decision: Stage['decision'],
  unicode: boolean,
): [mark: string, style: 'green' | 'red' | 'yellow'] {
  if (decision === 'refuse') return [unicode ? '✗' : 'x', 'red'];
  if (decision === 'continue' || decision === 'forward') return [unicode ? '✓' : '+', 'green'];
  return [unicode ? '→' : '>', 'yellow'];
}

function upstreamLines({ upstreams }: Explanation, look: Look): string[] {
  if (upstreams === null || upstreams.length === 0) return [];
  const lines = upstreams.flatMap((upstream) => {
    const { url, region, protocol, websocket_protocol: forSockets } = upstream;
    const { health, in_flight, picked_first, reason } = upstream;
    const mark = picked_first ? (look.unicode ? '→' : '>') : ' ';
    const ofSockets = forSockets === 'http1' ? '' : `, WebSockets by ${forSockets}`;
    const by = (protocol === 'http1' ? '' : `, protocol ${protocol}`) + ofSockets;
    const facts = `${url}  ${region ?? 'no region'}, ${health}, ${in_flight} in flight${by}`;
    return [
      `  ${mark} ${printable(facts)}`,
      ...labelled('      ', printable(reason), look.columns),
    ];
  });
  return ['  Upstreams of the first attempt, the best first:', ...lines, ''];
}

/** Which route gets the request, and by which way. */
function reachedText({ route, way }: ReachedBy): string | null {
  if (route === null) return null;
  return `${route}${way === null ? '' : `, at ${waysOf([way]).map(wayText).join()}`}`;
}

/** Which service gets copies, and how many. */
function mirrorText({ service, service_id: id, reason }: NonNullable<Explanation['mirror']>) {
  return `service ${service ?? id}: ${reason}`;
}

function facts(explanation: Explanation): [name: string, text: string][] {
  const { authentication, version, quota, idempotency, timeouts, reached_by } = explanation;
  const { cors, mirror } = explanation;
  const { refused_by, token_id, type } = authentication;
  const by = refused_by === null ? '' : `, refused by ${refused_by}`;
  const known: [string, string | null][] = [
    ['auth', type && `${type}${token_id === null ? '' : ` ${token_id}`}${by}`],
    ['reached', reached_by && reachedText(reached_by)],
    ['cors', cors && cors.reason],
    ['version', version && `${version.name ?? 'the only one'}, service ${version.service}`],
    [
      'quota',
      quota &&
        `${countText(quota.remaining)} of ${countText(quota.limit)} left per ${quota.per}, resets in ${msText(quota.reset_seconds * 1000)}`,
    ],
    ['idempotency', idempotency && idempotency.state.replaceAll('_', ' ')],
    ['rewritten', explanation.rewrite && rewriteText(explanation.rewrite)],
    ['retries', explanation.retry_policy],
    ['gRPC', explanation.grpc && explanation.grpc.reason],
    ['trailers', explanation.trailers],
    ['time-outs', timeouts && deadlineText(timeouts)],
    ['bodies', timeouts && bodyTimesText(timeouts)],
    ['locations', explanation.locations && locationsText(explanation.locations)],
    ['mirror', mirror && mirrorText(mirror)],
    ['headers sent', explanation.request_headers?.join(', ') ?? null],
  ];
  return known.filter((fact): fact is [string, string] => fact[1] !== null);
}
