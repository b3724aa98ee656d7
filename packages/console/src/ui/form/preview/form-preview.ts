/** A call of the management API. */
export interface PreviewedCall {
  readonly method: 'POST' | 'PATCH';
  /** Such as `/v1/routes`. */
  readonly path: string;
  readonly etag?: string | undefined;
  /** Secrets are of the kind `ShellValue`. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** What a form would send, and how a file for `gwctl apply` would say it. */
export interface FormPreview {
  /** The file, as an export would have it. */
  readonly manifest: object;
  readonly call: PreviewedCall;
}

/** A value that a shell puts in, because it is a secret. */
export class ShellValue {
  /** Stands between double quotes, such as `$PAYMENTS_TOKEN`. */
  readonly expression: string;

  constructor(expression: string) {
    this.expression = expression;
  }
}
