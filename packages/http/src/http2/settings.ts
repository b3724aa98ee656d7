import { readUint32 } from './frame-reader.ts';
import { ERROR, FIRST_WINDOW, MAX_FRAME_BYTES, MAX_WINDOW, SETTING } from './protocol.ts';

/** The largest value of SETTINGS_MAX_FRAME_SIZE (RFC 9113 section 6.5.2). */
const LARGEST_FRAME = 2 ** 24 - 1;
const SETTING_BYTES = 6;

/** What a peer has set (RFC 9113 section 6.5.2). A larger frame than the first size is never sent, so it is not kept. */
export class PeerSettings {
  initialWindow = FIRST_WINDOW;
  maxConcurrentStreams = Infinity;
  /** Whether a server accepts extended CONNECT (RFC 8441 section 3). */
  allowsExtendedConnect = false;
  readonly #limitTable: (bytes: number) => void;

  /** @param limitTable called with each size of the table, because the smallest one counts too (RFC 7541 section 4.2) */
  constructor(limitTable: (bytes: number) => void) {
    this.#limitTable = limitTable;
  }

  /**
   * Applies the payload of a SETTINGS frame, in order.
   *
   * @param isFromServer a server must not enable push
   * @returns the error of the connection, or NO_ERROR
   */
  apply(bytes: Buffer, start: number, end: number, isFromServer: boolean): number {
    if ((end - start) % SETTING_BYTES !== 0) return ERROR.frameSizeError;
    for (let at = start; at < end; at += SETTING_BYTES) {
      const setting = ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
      const error = this.#apply(setting, readUint32(bytes, at + 2), isFromServer);
      if (error !== ERROR.noError) return error;
    }
    return ERROR.noError;
  }

  #apply(setting: number, value: number, isFromServer: boolean): number {
    switch (setting) {
      case SETTING.headerTableSize:
        this.#limitTable(value);
        return ERROR.noError;
      case SETTING.enablePush:
        return value > 1 || (isFromServer && value === 1) ? ERROR.protocolError : ERROR.noError;
      case SETTING.maxConcurrentStreams:
        this.maxConcurrentStreams = value;
        return ERROR.noError;
      case SETTING.initialWindowSize:
        if (value > MAX_WINDOW) return ERROR.flowControlError;
        this.initialWindow = value;
        return ERROR.noError;
      case SETTING.maxFrameSize:
        return value < MAX_FRAME_BYTES || value > LARGEST_FRAME
          ? ERROR.protocolError
          : ERROR.noError;
      case SETTING.enableConnectProtocol:
        // RFC 8441 section 3: it must not be taken back.
        if (value > 1 || (this.allowsExtendedConnect && value === 0)) return ERROR.protocolError;
        this.allowsExtendedConnect = value === 1;
        return ERROR.noError;
      default:
        return ERROR.noError;
    }
  }
}
