import type { ChildProcess } from 'node:child_process';

/** Why a connection that was dealt to a worker never came to it. */
export type UndealtReason = 'worker_ended' | 'no_open_files' | 'stopping';

/** What of node:cluster's own messages is read here. */
interface ClusterMessage {
  readonly cmd?: unknown;
  readonly act?: unknown;
  readonly seq?: unknown;
  readonly ack?: unknown;
  accepted?: unknown;
}

export interface UndealtOptions {
  /** Told of each connection that is closed. */
  readonly undealt: (why: UndealtReason) => void;
  /** Whether the whole group stops, so that what one worker refuses no other takes. */
  readonly stopping: () => boolean;
}

/**
 * Closes the connection that a worker was being dealt when it ended, or when it had no open file left to
 * take it with. node:cluster waits for the worker's word, which does not come any more: it would keep the
 * connection open without anybody to answer on it, and deal a worker that lives no other one ever again. To
 * another worker it is not given: whether the first has read of it is not known for sure, and one that is
 * full would be offered the same connection again and again. Where the group stops, so is one that a worker
 * refuses: it would be kept for a worker that does not come, until the primary has ended.
 *
 * It goes by messages that Node does not document. Where a release of it changes them nothing is closed,
 * and e2e/workers tells.
 */
export function closeUndealtConnections(
  child: ChildProcess,
  { undealt, stopping }: UndealtOptions,
): void {
  /** One at most: the next is dealt when the worker has said that it has this one. */
  let dealt: unknown;
  const send = child.send.bind(child) as (...args: readonly unknown[]) => boolean;
  child.send = (...args: readonly unknown[]): boolean => {
    const { cmd, act, seq } = args[0] as ClusterMessage;
    if (cmd === 'NODE_CLUSTER' && act === 'newconn') dealt = seq;
    return send(...args);
  };

  function close(why: UndealtReason): void {
    if (dealt === undefined) return;
    const ack = dealt;
    dealt = undefined;
    undealt(why);
    // The worker's word in its place: node:cluster closes its side then, and goes on with the next one.
    child.emit('internalMessage', { cmd: 'NODE_CLUSTER', ack, accepted: true });
  }

  // Before node:cluster reads it.
  child.prependListener('internalMessage', (message: ClusterMessage) => {
    const { cmd, ack, accepted } = message;
    if (cmd === 'NODE_HANDLE_NACK') close('no_open_files');
    if (ack === undefined || ack !== dealt) return;
    dealt = undefined;
    if (accepted !== false || !stopping()) return;
    undealt('stopping');
    message.accepted = true;
  });
  // All that it had said was read. Node does not tell of `disconnect` while a handle is on its way.
  child.once('close', () => close('worker_ended'));
}
