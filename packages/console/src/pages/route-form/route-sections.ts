import type { Route } from '../../api/client.ts';
import type { Draft } from '../../ui/form/draft.ts';
import type { FoldedSection, Section } from '../../ui/form/section.ts';
import { countedText } from '@gateway/client/measures';
import {
  explainIdempotency,
  explainLimits,
  explainLog,
  explainQuota,
  explainRegions,
} from '../route/policies/access-rules.ts';
import { explainAuthentication } from '../route/policies/authentication.ts';
import { explainBodyTimes } from '../route/policies/body-times.ts';
import { explainBrowsers } from '../route/policies/browsers.ts';
import type { Policy } from '../route/policies/policy.ts';
import { explainRetries } from '../route/policies/retries.ts';
import { explainRewriting } from '../route/policies/rewriting.ts';
import { explainSessions } from '../route/policies/sessions.ts';
import { durationText, sizeText, windowText } from '../route/policies/words.ts';
import { NEW_ROUTE } from './route-draft.ts';

/** What has to be said of every route: its name, where it leads, and how it is reached. */
export const FIRST_SECTIONS: readonly Section[] = [
  { title: 'Route', fields: ['name'] },
  {
    title: 'Leads to',
    description: 'The service that handles the requests, or what the gateway answers itself.',
    columns: 1,
    fields: ['service_id', 'versions', 'respond', 'redirect'],
  },
  {
    title: 'Reached by',
    description:
      'Hosts and paths besides /v1/proxy and the name of the route. The most specific one wins.',
    columns: 1,
    fields: ['match'],
  },
];

/** The words of the policies for each section, if they have some. */
type Explain = (route: Route) => Policy | undefined;

const explained =
  (explain: Explain, ...shown: readonly [number, ...(readonly number[])]) =>
  (draft: Draft): string | undefined => {
    const sentences = explain(draft as unknown as Route)?.sentences;
    return sentences && shown.map((at) => firstOf(sentences[at])).join(' ');
  };

/** A text without what follows its first sentence. */
function firstOf(text = ''): string {
  return /^.+?\.(?= |$)/s.exec(text)?.[0] ?? text;
}

const whole =
  (explain: Explain) =>
  (draft: Draft): string | undefined =>
    explain(draft as unknown as Route)?.sentences.join(' ');

/** The words of what has an effect only on requests that go to a service. */
const ofService =
  (sentence: (draft: Draft) => string | undefined) =>
  (draft: Draft): string | undefined => {
    const { respond, redirect } = draft as unknown as Route;
    const isAnswered = respond !== null || redirect !== null;
    return isAnswered ? 'No effect: the gateway answers itself.' : sentence(draft);
  };

/** The words of something that is there, or this if it is not. */
const orElse =
  (sentence: (draft: Draft) => string | undefined, off: string) =>
  (draft: Draft): string =>
    sentence(draft) ?? off;

/** What is left as it is until the reader changes it, in the order in which it applies to a request. */
export const FOLDED_SECTIONS: readonly FoldedSection[] = [
  { title: 'Authentication', fields: ['auth'], sentence: explained(explainAuthentication, 0) },
  {
    title: 'Quota',
    description: 'Further requests get 429.',
    fields: ['rate_limit'],
    sentence: explained(explainQuota, 0),
  },
  {
    title: 'Time and retries',
    fields: ['timeout_ms', 'retry_count', 'retry'],
    sentence: ofService(explained(explainRetries, 0)),
  },
  {
    title: 'Methods and bodies',
    fields: ['methods', 'max_body_bytes', 'allow_encoded_control_characters'],
    sentence: explained(explainLimits, 0, 1),
  },
  {
    title: 'Idempotency keys',
    fields: ['idempotency'],
    sentence: ofService(explained(explainIdempotency, 1)),
  },
  {
    title: 'Rewriting',
    description: 'What the upstream and the caller get instead of what was sent.',
    columns: 1,
    fields: ['rewrite'],
    sentence: ofService(
      orElse(whole(explainRewriting), 'Off: requests and responses stay as they are.'),
    ),
  },
  {
    title: 'Browsers (CORS)',
    description: 'Which pages of other origins may call the route and read its responses.',
    columns: 1,
    fields: ['cors'],
    sentence: orElse(explained(explainBrowsers, 0), 'Off: the upstream decides.'),
  },
  { title: 'Regions', fields: ['regions'], sentence: ofService(whole(explainRegions)) },
  {
    title: 'Sessions',
    columns: 1,
    fields: ['affinity'],
    sentence: ofService(
      orElse(explained(explainSessions, 0), 'Off: each request goes to any upstream.'),
    ),
  },
  {
    title: 'Mirror',
    description: 'Copies of requests for a service that is tried out.',
    columns: 1,
    fields: ['mirror'],
    sentence: ofService(mirrorSentence),
  },
  {
    title: 'Streams',
    description: 'Requests and responses that last, such as those of gRPC.',
    fields: ['streaming', 'max_message_bytes'],
    sentence: ofService(streamSentence),
  },
  {
    title: 'Slow bodies',
    description: 'Waiting for the body of a request does not count towards the deadline.',
    fields: ['max_upload_ms', 'min_upload_bytes_per_second', 'body_idle_timeout_ms'],
    sentence: ofService(explained(explainBodyTimes, 0)),
  },
  {
    title: 'Responses',
    fields: ['locations', 'early_hints', 'grpc_errors'],
    sentence: ofService(responseSentence),
  },
  { title: 'Log', fields: ['access_log'], sentence: explained(explainLog, 0) },
  {
    title: 'Status',
    fields: ['status'],
    sentence: ({ status }) => (status === 'disabled' ? 'Disabled: requests get 404.' : 'Active.'),
  },
];

function mirrorSentence(draft: Draft): string {
  const { mirror } = draft as unknown as Route;
  if (mirror === null) return 'Off: no copies are made.';
  return `${mirror.percent} % of the requests are copied to another service.`;
}

function streamSentence(draft: Draft): string {
  const { streaming, max_message_bytes: bytes } = draft as unknown as Route;
  return streaming
    ? `Streams may last. Messages of gRPC and Connect have up to ${sizeText(bytes)}.`
    : 'Off: the deadline holds for all requests.';
}

function responseSentence(draft: Draft): string {
  const { locations, early_hints: hints, grpc_errors: grpc } = draft as unknown as Route;
  return [
    locations === 'map'
      ? 'Addresses of the upstream become those by which callers reach the route.'
      : 'Addresses of the upstream stay as they are.',
    ...(hints ? ['103 Early Hints are passed on.'] : []),
    ...(grpc === 'trailers' ? ['Errors of gRPC calls have the status 200.'] : []),
  ].join(' ');
}

const AUTH_WORDS = {
  token: 'a token is required',
  api_key: 'a token in X-API-Key is required',
  jwt: 'a JWT is required',
  none: 'anybody may call',
} as const;

/** The defaults that people ask for first, in one sentence. */
export function defaultsSentence(): string {
  const { auth, rate_limit, timeout_ms, retry_count, max_body_bytes } =
    NEW_ROUTE as unknown as Route;
  const { limit, window_seconds: seconds } = rate_limit;
  const parts = [
    AUTH_WORDS[auth.type],
    `${countedText(limit, 'request')} in ${windowText(seconds)}`,
    `${durationText(timeout_ms)} deadline`,
    retry_count === 0 ? 'no retries' : countedText(retry_count, 'retry').replace(/rys$/, 'ries'),
    `bodies up to ${sizeText(max_body_bytes)}`,
  ];
  return `Defaults: ${parts.join(', ')}; nothing is rewritten or copied.`;
}
