import { JetStreamApiError, type JetStreamClient } from '@nats-io/jetstream';

/** The two error codes for "wrong last sequence". */
const REFUSED = new Set([10071, 10164]);
/** A sequence that no message has. */
const NO_SEQUENCE = Number.MAX_SAFE_INTEGER;

/**
 * Delays reads of a stream until the server has created its storage, as after a server lost its data.
 * nats-server 2.9 crashes on a `STREAM.MSG.GET` before that (a nil pointer in `jsMsgGetRequest`), and
 * accepts no message before that either. So each stream first gets a message that it must refuse. Once
 * is enough until the connection is lost.
 */
export class ReadyStreams {
  #known = new Set<string>();

  /** Call this when the connection is lost: the next server may have no stream yet. */
  forget(): void {
    this.#known = new Set();
  }

  /**
   * Makes sure that the stream can be read.
   *
   * @param subject a subject of the stream that the caller may publish to; nothing is stored
   * @throws the client's error if the stream is missing, not ready yet, or does not answer in time
   */
  async ensure(client: JetStreamClient, stream: string, subject: string): Promise<void> {
    const known = this.#known;
    if (known.has(stream)) return;
    try {
      const expect = { streamName: stream, lastSubjectSequence: NO_SEQUENCE };
      await client.publish(subject, '', { expect });
    } catch (error) {
      if (!(error instanceof JetStreamApiError) || !REFUSED.has(error.code)) throw error;
    }
    known.add(stream);
  }
}
