import { ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';

/**
 * A response that never looks complete where it was given up. In HTTP/1.0 the end of the connection
 * may be the end of the body (RFC 9112 section 6.3), so there the connection is reset; over TLS its
 * end without a word is not taken for a proper one (section 9.8).
 */
export class CuttableResponse extends ServerResponse {
  override destroy(error?: Error): this {
    const { socket, req } = this;
    if (req.httpVersion === '1.0' && socket !== null && !(socket instanceof TLSSocket)) {
      socket.resetAndDestroy();
    }
    return super.destroy(error);
  }
}
