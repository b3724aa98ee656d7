import type { ChildProcess } from 'node:child_process';

/** What of node:cluster's own messages is read here; anything else is none of ours. */
interface ClusterMessage {
  readonly cmd?: unknown;
  readonly act?: unknown;
  readonly seq?: unknown;
  readonly ack?: unknown;
}

interface Closable {
  close(): void;
}

/**
 * Closes the connection that a worker was being handed when it ended. node:cluster waits for the worker's
 * word, which does not come any more, and would keep the connection open without anybody to answer on
 * it for as long as the primary runs. To another worker it is not given: whether this one has read of
 * it is not known for sure.
 *
 * It goes by messages that Node does not document. Where a release of it changes them nothing is closed,
 * and e2e/workers tells.
 */
export function closeUntakenConnections(child: ChildProcess): void {
  const untaken = new Map<unknown, Closable>();
  const send = child.send.bind(child) as (...args: readonly unknown[]) => boolean;
  child.send = (message: unknown, handle?: unknown, ...rest: readonly unknown[]): boolean => {
    const { cmd, act, seq } = message as ClusterMessage;
    if (cmd === 'NODE_CLUSTER' && act === 'newconn' && isClosable(handle)) untaken.set(seq, handle);
    return send(message, handle, ...rest);
  };
  child.on('internalMessage', (message: unknown) => {
    const { ack } = message as ClusterMessage;
    if (ack !== undefined) untaken.delete(ack);
  });
  // All that it had said was read. Node does not tell of `disconnect` while a handle is on its way.
  child.once('close', () => {
    for (const handle of untaken.values()) handle.close();
    untaken.clear();
  });
}

function isClosable(handle: unknown): handle is Closable {
  return (
    typeof handle === 'object' &&
    handle !== null &&
    'close' in handle &&
    typeof handle.close === 'function'
  );
}
