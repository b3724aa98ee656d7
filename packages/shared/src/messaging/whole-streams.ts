import { JetStreamApiError, type JetStreamClient } from '@nats-io/jetstream';

/** "Wrong last sequence", in both forms in which servers say it. */
const REFUSED = new Set([10071, 10164]);
/** No message has it. */
const NO_SEQUENCE = Number.MAX_SAFE_INTEGER;

/**
 * Keeps reads away from streams that are being made, as they are after a server lost its data:
 * nats-server 2.9 dies of a `STREAM.MSG.GET` that comes before the stream has its storage (a nil pointer
 * in `jsMsgGetRequest`), and takes no message before. So each stream is first sent a message that it must
 * refuse. Once is enough for as long as the server has not changed.
 */
export class WholeStreams {
  #known = new Set<string>();

  /** To be called when the connection is lost: who answers next may know none of the streams. */
  forget(): void {
    this.#known = new Set();
  }

  /**
   * @param subject one of the stream's, to which the caller may publish; nothing is stored there
   * @throws where there is no such stream, it is not whole yet, or gives no answer in the client's time
   */
  async assure(client: JetStreamClient, stream: string, subject: string): Promise<void> {
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
