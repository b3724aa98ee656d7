import type { ClientConnection } from '@gateway/http/exchange';
import { connectError } from './connect-error.ts';
import { failStart, type PooledAttempt } from './pooled-attempt.ts';
import type { ConnectorOptions, UpstreamConnector } from './upstream-connector.ts';

const nothing = () => undefined;

/** Opens a connection for this attempt only. It closes when the attempt ends. */
export function openAlone(
  attempt: PooledAttempt,
  connector: UpstreamConnector,
  protocol: ConnectorOptions['protocol'],
  internalError: (error: unknown) => void,
): void {
  const start = (connection: ClientConnection) => {
    try {
      if (attempt.wanted && attempt.start(connection)) connection.retire();
      else connection.destroy();
    } catch (error) {
      failStart(attempt, connection, error, internalError);
      connection.destroy();
    }
  };
  const { host } = connector;
  const owner = { host, closed: nothing, internalError };
  attempt.waits(false);
  connector.open(
    {
      // It is retired, so what it carried has ended.
      http1: { ...owner, freed: (connection) => connection.destroy() },
      http2: { ...owner, freed: nothing, announcedEnd: nothing, limitKnown: nothing },
      openedHttp1: start,
      openedHttp2: start,
      failed: (failure) => {
        attempt.refused(connectError(failure));
      },
    },
    protocol,
  );
}
