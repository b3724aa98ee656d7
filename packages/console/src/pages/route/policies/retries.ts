import type { Route } from '../../../api/client.ts';
import { DEFAULT_METHODS } from '../../../api/default-methods.ts';
import type { Policy } from './policy.ts';
import { countedText } from '@gateway/client/measures';
import { durationText, listWords } from './words.ts';

type Retries = Pick<Route, 'timeout_ms' | 'retry_count' | 'retry' | 'methods'>;

const UNSAFE_METHODS = ['POST', 'PATCH'] as const;

/** How long a request may take, and when a failed attempt is repeated. */
export function explainRetries(route: Retries): Policy {
  const { timeout_ms: timeoutMs, retry_count: retries, retry } = route;
  const { per_attempt_timeout_ms: attemptMs } = retry;
  const within = `${countedText(1 + retries, 'attempt')} within ${durationText(timeoutMs)}`;
  return {
    title: 'Time and retries',
    field: 'timeout_ms',
    sentences: [
      retries === 0 ? `${within}: nothing is repeated.` : `Up to ${within}.`,
      ...(attemptMs === null || attemptMs >= timeoutMs
        ? []
        : [`One attempt may take ${durationText(attemptMs)}.`]),
      ...(retries === 0 ? [] : repeated(route)),
    ],
  };
}

function repeated({ retry, methods }: Retries): string[] {
  const { on_statuses: statuses, backoff_ms: backoffMs, unsafe_methods: unsafe } = retry;
  const after = [
    'a broken connection',
    ...(retry.per_attempt_timeout_ms === null ? [] : ['an attempt that takes too long']),
    ...(statuses.length === 0 ? [] : [`the status ${listWords(statuses.map(String), 'or')}`]),
  ];
  const accepted = UNSAFE_METHODS.filter((method) => methods === null || methods.includes(method));
  const others = (methods ?? []).filter((method) => !DEFAULT_METHODS.includes(method));
  return [
    `An attempt is repeated after ${listWords(after, 'or')}.`,
    ...(accepted.length === 0
      ? []
      : [unsafeSentence(listWords(accepted), accepted.length, unsafe)]),
    ...(others.length === 0
      ? []
      : [
          `${listWords(others)}: repeated after sending if HTTP registers the method as idempotent.`,
        ]),
    backoffMs === 0
      ? 'There is no wait before a retry.'
      : `It waits up to ${durationText(backoffMs)} before the first retry, and up to twice as long before each further one.`,
    'The retry budget of the service allows about one retry for five requests.',
  ];
}

function unsafeSentence(
  methods: string,
  count: number,
  unsafe: Route['retry']['unsafe_methods'],
): string {
  const are = count === 1 ? 'is' : 'are';
  switch (unsafe) {
    case 'never':
      return `${methods} ${are} not repeated after sending.`;
    case 'with_idempotency_key':
      return `${methods} ${are} repeated after sending only with an Idempotency-Key.`;
    case 'always':
      return `${methods} ${are} repeated even after sending, so the upstream may run ${count === 1 ? 'it' : 'them'} twice.`;
  }
}
