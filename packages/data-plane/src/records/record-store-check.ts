import { NAMES } from '@gateway/shared/messaging/names';
import type { NatsLink } from '../nats/nats-link.ts';

/** Tells whether the record stream still has what it had before a disconnect. */
export interface RecordStoreCheck {
  /**
   * Whether the stream is the same one as in the last answer of NATS and has reached this sequence number. False if NATS does
   * not say so. Call it after each connect.
   */
  isKept(sequence: number): Promise<boolean>;
}

/**
 * Creates a check. A stream that was created again has another time of creation, and one that was restored from an older
 * state ends before the sequence number.
 */
export function createRecordStoreCheck(link: NatsLink): RecordStoreCheck {
  let known: string | undefined;
  return {
    async isKept(sequence) {
      try {
        const manager = await link.jetstream?.manager;
        const info = await manager?.streams.info(NAMES.recordStream);
        if (info === undefined) return false;
        const isSame = info.created === known;
        known = info.created;
        return isSame && info.state.last_seq >= sequence;
      } catch {
        return false;
      }
    },
  };
}
