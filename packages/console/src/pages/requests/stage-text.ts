/** The stages of a request, and what each decides. */
const STAGES = new Map(
  Object.entries({
    admit:
      'Admit: whether a slot is free, and whether any route could accept the method, host and path.',
    resolve_route: 'Resolve route: which environment and which route it is.',
    preflight: 'Preflight: whether a page of another origin may send the request.',
    authenticate: 'Authenticate: who the caller is.',
    authorize:
      'Authorize: whether the caller may use the route, and whether the route exists and accepts the request.',
    origin: 'Origin: whether a page of this origin may open a WebSocket.',
    pick_version: 'Pick version: which version of the route serves it.',
    require_credential: 'Require credential: whether the credential for the upstream can be sent.',
    bulkhead: 'Bulkhead: whether the data plane, the route and the service have a free slot.',
    quota: 'Quota: whether the window has a request left.',
    answer: 'Answer: whether the route answers itself.',
    max_forwards: 'Max forwards: whether the request may be forwarded at all.',
    idempotency: 'Idempotency: what is known about the idempotency key.',
    forward: 'Forward: the body of the request, and the attempts at the upstreams.',
  }),
);

/** What a stage decides. A newer data plane may have stages that this page does not know. */
export function stageText(stage: string): string {
  return STAGES.get(stage) ?? stage;
}

const KEY_EFFECTS = new Map(
  Object.entries({
    first: 'The first request with its key.',
    repeated:
      'Sent again: the last request with its key was answered with a status after which the route allows this.',
    forwarded:
      'Sent again: the outcome of an earlier request with its key is unknown, and the route allows this.',
    replayed:
      'Answered with the stored response of the first request with its key. Nothing was sent.',
    conflict: 'Refused: its key was used with another request.',
    in_progress: 'Refused: the first request with its key had not ended in time.',
    outcome_unknown: 'Refused: the outcome of the first request with its key is unknown.',
    not_replayable: 'Refused: the response of the first request with its key could not be stored.',
    unavailable: 'Refused: the store of keys could not be reached.',
    passed_on: 'Left to the upstream, as the route says. The gateway stored nothing.',
  }),
);

/** What the idempotency key did to the request. */
export function keyText(effect: string): string {
  return KEY_EFFECTS.get(effect) ?? effect;
}
