import { booleanField, integerField } from './fields.ts';

const DEFAULT_MESSAGE_BYTES = 4 * 1024 * 1024;

/** Fields of routes whose requests and responses are streams that last. */
export const streamingFields = {
  streaming: booleanField()
    .default(false)
    .meta({
      title: 'Long streams',
      description:
        'Whether requests and responses are streams that may last, such as those of gRPC. `timeout_ms` then ends when the request is sent to an upstream; after that, `grpc-timeout` of a gRPC request or `body_idle_timeout_ms` without a byte in either direction ends the stream. `max_upload_ms` and `min_upload_bytes_per_second` do not apply to a body that streams.',
      examples: [false],
    }),
  max_message_bytes: integerField(1, 1024 ** 3)
    .default(DEFAULT_MESSAGE_BYTES)
    .meta({
      title: 'Message size limit',
      'x-unit': 'bytes',
      description:
        'On a route with `streaming`, the largest message of a request of gRPC, gRPC-Web or streaming Connect, as it is sent. A request with a larger one is refused with 413. `max_body_bytes` does not bound these bodies, but all others.',
      examples: [DEFAULT_MESSAGE_BYTES],
    }),
};

/** The fields of a route that `streaming` depends on. */
export interface StreamingRoute {
  readonly streaming?: boolean | undefined;
  /** Not null: the route answers itself. */
  readonly respond?: object | null | undefined;
  readonly redirect?: object | null | undefined;
  readonly mirror?: object | null | undefined;
}

/** Why the route cannot carry streams that last. */
export function* streamingProblems({ streaming, respond, redirect, mirror }: StreamingRoute) {
  if (streaming !== true) return;
  if (respond || redirect) {
    yield { path: ['streaming'], message: 'must be false on a route that answers itself' };
  } else if (mirror) {
    // A copy is sent when its body is whole, so each open stream would hold memory and a place among the copies.
    yield { path: ['mirror'], message: 'must be null on a route with streaming' };
  }
}
