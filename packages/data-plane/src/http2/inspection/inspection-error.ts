/** The connection cannot continue. */
export class InspectionError extends Error {
  override readonly name = 'InspectionError';
  /** The reason that is counted. */
  readonly code = 'HTTP2_INVALID_FRAME';
  /** The code of GOAWAY. */
  readonly http2Code: number;

  constructor(message: string, http2Code: number, options?: ErrorOptions) {
    super(message, options);
    this.http2Code = http2Code;
  }
}
