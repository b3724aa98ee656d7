/** The numbers of RFC 9113. */

/** Types of frames (section 6). */
export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

/** Flags of frames (section 6). `ack` belongs to SETTINGS and PING, `endStream` to DATA and HEADERS. */
export const FLAG = {
  endStream: 0x01,
  ack: 0x01,
  endHeaders: 0x04,
  padded: 0x08,
  priority: 0x20,
} as const;

/** What the pings of this end ask: the last four bytes, the others are 0. */
export const PING = {
  /** Whether the peer has read that the connection goes away. */
  goAway: 0,
  /** How long a round trip takes. */
  roundTrip: 1,
  /** Whether the server is still there. */
  alive: 2,
} as const;

/** Error codes (section 7). */
export const ERROR = {
  noError: 0,
  protocolError: 1,
  internalError: 2,
  flowControlError: 3,
  settingsTimeout: 4,
  streamClosed: 5,
  frameSizeError: 6,
  refusedStream: 7,
  cancel: 8,
  compressionError: 9,
  enhanceYourCalm: 11,
} as const;

/** Settings (section 6.5.2, and RFC 8441 section 3). */
export const SETTING = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
  enableConnectProtocol: 8,
} as const;

/** Bytes before the payload of a frame (section 4.1). */
export const FRAME_HEAD_BYTES = 9;
/** The largest payload until a peer allows more (section 6.5.2). Neither end of a connection here allows or uses more. */
export const MAX_FRAME_BYTES = 16_384;
/** The windows of a connection and of its streams at its start (section 6.9.2). */
export const FIRST_WINDOW = 65_535;
/** The largest window (section 6.9.1). */
export const MAX_WINDOW = 2 ** 31 - 1;
export const MAX_STREAM_ID = 2 ** 31 - 1;
/** What a field takes beyond its name and value in the size of a list and of a table (RFC 7541 section 4.1). */
export const FIELD_BYTES = 32;
/** The dynamic tables of both directions: the default of SETTINGS_HEADER_TABLE_SIZE, which is not enlarged. */
export const MAX_TABLE_BYTES = 4096;

/** What a client sends first (section 3.4). */
export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

/** Why a connection ended before its time, for metrics. */
export const END_REASONS = [
  /** It had no stream for too long. */
  'HTTP2_IDLE',
  /** Too many streams were reset, by either side. */
  'HTTP2_RESETS',
  /** Too many frames of one kind that belong to no message. */
  'HTTP2_FLOOD',
  /** The peer broke the protocol. */
  'HTTP2_INVALID_FRAME',
  /** The preface, an acknowledgement of settings or the rest of a header block did not arrive in time. */
  'HTTP2_TIMEOUT',
  /** The peer does not read what it makes this end send. */
  'HTTP2_UNREAD',
] as const;
export type EndReason = (typeof END_REASONS)[number];
