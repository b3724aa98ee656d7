/** The exit codes of gwctl. Scripts depend on them. */
export const EXIT = {
  done: 0,
  failed: 1,
  difference: 2,
  usage: 3,
  notAllowed: 4,
  unreachable: 5,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The command line or the input is wrong. Nothing was changed. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The command could not do what it was asked to. */
export class FailedError extends Error {
  override readonly name = 'FailedError';
}

/** The user pressed ^C. The message says what was done by then. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError';
}

/** There is a difference, and the user asked to be told with the exit code. */
export class DifferenceError extends Error {
  override readonly name = 'DifferenceError';
}

/** An error, and what gwctl knows beside it. */
export class ErrorWithRemark extends Error {
  override readonly name = 'ErrorWithRemark';
  /** @param message the remark */
  constructor(message: string, cause: unknown) {
    super(message, { cause });
  }
}
