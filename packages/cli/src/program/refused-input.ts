import type { ApiError } from '@gateway/client';

/** The API refuses what files or options give. */
export class RefusedInputError extends Error {
  override readonly name = 'RefusedInputError';
  readonly refusal: ApiError;
  /** Each fault with its place in a file, or the option that gave it. */
  readonly faults: readonly string[];

  constructor(message: string, refusal: ApiError, faults: readonly string[]) {
    super(message);
    this.refusal = refusal;
    this.faults = faults;
  }
}
