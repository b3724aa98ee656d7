import type { ApiError } from '@gateway/client';

/** The API refuses what files declare. */
export class RefusedFilesError extends Error {
  override readonly name = 'RefusedFilesError';
  readonly refusal: ApiError;
  /** Each fault with its place in a file. */
  readonly faults: readonly string[];

  constructor(refusal: ApiError, faults: readonly string[]) {
    super('The gateway refuses what the files declare, and has changed nothing.');
    this.refusal = refusal;
    this.faults = faults;
  }
}
