import { JetStreamApiError, type JetStreamClient } from '@nats-io/jetstream';

/** "Wrong last sequence", in both forms in which servers say it. */
const REFUSED = new Set([10071, 10164]);
/** No message has it. */
const NO_SEQUENCE = Number.MAX_SAFE_INTEGER;

/**
 * Delays reads of a stream until the server has created its storage, as after a server lost its data.
 * nats-server 2.9 crashes on a `STREAM.MSG.GET` before that (a nil pointer in `jsMsgGetRequest`), and
 * accepts no message before that either. So each stream first gets a message that it must refuse. Once
 * is enough until the connection is lost.
 */
export class ReadyStreams {
  #known = new Set<string>();

  /** To be called when the connection is lost: the server that answers next may have no stream yet. */
  forget(): void {
    this.#known = new Set();
  }

  /**
   * Makes sure that the stream can be read.
   *
   * @param subject one of the stream's, to which the caller may publish; nothing is stored there
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
