import type { ServerHttp2Session } from 'node:http2';

/** NGHTTP2_ERR_PROTO of nghttp2, which node:http2 does not export. */
const PROTOCOL_ERROR = -505;

/** What is needed of the connection of a session. */
export interface GoAwaySource {
  /** Whether GOAWAY with an error was sent. */
  readonly hasSentGoAway: boolean;
  /** Is called when that happens. */
  onGoAway: () => void;
}

/**
 * node:http2 destroys a session for every frame that nghttp2 reports as a protocol error, also if nghttp2 only resets its
 * stream, as RFC 9113 section 5.4.2 requires: for DATA beyond Content-Length. Here the session continues, unless nghttp2
 * itself ends the connection with GOAWAY.
 */
export function continueAfterStreamErrors(
  session: ServerHttp2Session,
  connection: GoAwaySource,
): void {
  const destroy = session.destroy.bind(session);
  session.destroy = (error?: Error, code?: number) => {
    if (!isProtocolError(error)) {
      destroy(error, code);
      return;
    }
    // Later, so that the frame is sent first.
    const destroySoon = () => void setImmediate(destroy, error, code);
    if (connection.hasSentGoAway) destroySoon();
    else connection.onGoAway = destroySoon;
  };
}

/** node:http2 also calls `destroy` with a number or with null. */
function isProtocolError(error: unknown): boolean {
  const isObject = typeof error === 'object' && error !== null;
  if (!isObject || !('code' in error) || !('errno' in error)) return false;
  return error.code === 'ERR_HTTP2_ERROR' && error.errno === PROTOCOL_ERROR;
}
