import { sizeError } from '../request/body-errors.ts';
import {
  createBodyBudget,
  EMPTY_BODY,
  type BodyLimits,
  type BodyStream,
  type RequestBody,
  type TakenBody,
} from '../request/request-body.ts';

/** The body of a request that is only asked about. All of it is there, within the same limits as a body that arrives. */
export function exampleBody(body: Buffer): RequestBody {
  if (body.length === 0) return EMPTY_BODY;
  return {
    empty: false,
    receivedBytes: body.length,
    failure: undefined,
    taken: false,
    take: (limits) => take(body, limits),
    release: () => undefined,
  };
}

function take(body: Buffer, limits: BodyLimits): TakenBody {
  const error = sizeError(limits, body.length, body);
  if (error !== undefined) throw error;
  if (body.length <= limits.keepBytes) return { kind: 'kept', bytes: body };
  return { kind: 'stream', stream: UNREAD };
}

/** Nothing reads it: only the decision that it would stream counts. */
const UNREAD: BodyStream = {
  ended: undefined,
  begun: false,
  isRead: false,
  budget: createBodyBudget(0),
  failure: undefined,
  passTrailersFor: () => undefined,
  start: () => undefined,
  pause: () => undefined,
  resume: () => undefined,
  discard: () => undefined,
};
