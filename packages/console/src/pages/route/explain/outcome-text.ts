import { bodyTimesText, deadlineText } from '@gateway/client/explained-times';
import { plainText } from '@gateway/client/form-fields';
import { grpcStatusText } from '@gateway/client/grpc-status';
import { locationsText, rewriteText, waysOf, wayText } from '@gateway/client/route-ways';
import type { Explanation } from '../../../api/client.ts';
import { msText } from '../../../ui/ms-text.ts';

/** How the request ends, in a few words: `Refused with 429 rate_limit_exceeded`. */
export function outcomeText({
  decision,
  status,
  code,
  grpc_status: grpcStatus,
  retry_after_seconds,
}: Explanation['outcome']) {
  const grpc = grpcStatus === null ? null : `gRPC ${grpcStatusText(grpcStatus)}`;
  const answer = [status, code, grpc].filter((part) => part !== null).join(' ');
  const by = answer === '' ? '' : ` with ${answer}`;
  const retry =
    retry_after_seconds === null ? '' : `, retry after ${msText(retry_after_seconds * 1000)}`;
  switch (decision) {
    case 'forward':
      return 'Forwarded to an upstream';
    case 'refuse':
      return `Refused${by}${retry}`;
    case 'answer':
      return `Answered by the gateway itself${by}`;
    case 'elsewhere':
      return 'Not a request of this route';
    case 'wait':
      return 'Waits for something whose end is not known';
  }
}

/** Which route gets the request, and by which way. */
function reachedText({ route, way }: NonNullable<Explanation['reached_by']>): string | null {
  if (route === null) return null;
  return `${route}${way === null ? '' : `, at ${waysOf([way]).map(wayText).join()}`}`;
}

/** The facts that the decision was made of. */
export function factsOf(explanation: Explanation): readonly (readonly [string, string])[] {
  const { authentication, version, quota, idempotency, timeouts, mirror } = explanation;
  const { type, token_id: token, refused_by: rule } = authentication;
  const known: readonly (readonly [string, string | null])[] = [
    ['Asked', `${explanation.data_plane} in ${explanation.region}`],
    ['Configuration', `version ${explanation.config_version ?? 'none'}`],
    [
      'Authentication',
      [type ?? 'unknown', token, rule?.replaceAll('_', ' ')].filter(Boolean).join(', '),
    ],
    ['Reached', explanation.reached_by && reachedText(explanation.reached_by)],
    ['Browsers (CORS)', explanation.cors && plainText(explanation.cors.reason)],
    ['Version', version && `${version.name ?? 'the only one'}, to ${version.service}`],
    [
      'Quota',
      quota &&
        `${quota.remaining.toLocaleString('en')} of ${quota.limit.toLocaleString('en')} left, resets in ${msText(quota.reset_seconds * 1000)}`,
    ],
    ['Idempotency key', idempotency && idempotency.state.replaceAll('_', ' ')],
    ['Rewritten', explanation.rewrite && rewriteText(explanation.rewrite)],
    ['Retries', explanation.retry_policy],
    ['gRPC statuses', explanation.grpc && explanation.grpc.reason],
    ['Trailers', explanation.trailers],
    ['Time-outs', timeouts && deadlineText(timeouts)],
    ['Bodies', timeouts && bodyTimesText(timeouts)],
    ['Locations', explanation.locations && locationsText(explanation.locations)],
    ['Mirror', mirror && `${mirror.service ?? mirror.service_id}: ${mirror.reason}`],
    ['Headers sent', explanation.request_headers && explanation.request_headers.join(', ')],
  ];
  return known.filter((fact): fact is [string, string] => fact[1] !== null);
}
