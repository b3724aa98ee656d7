/** What the fields of one message may be. */
export interface FieldLimits {
  /** The size of all fields as RFC 9113 section 6.5.2 counts it. */
  readonly maxHeaderBytes: number;
  readonly maxFields: number;
}
