/**
 * What an error of a query means. Only this file knows the SQLSTATEs of Postgres and the messages of the
 * driver.
 */

/** SQLSTATE classes: 08 connection, 53 resources, 57P0x shutdown; read-only, deadlock, serialization, timeouts. */
const UNAVAILABLE_STATE = /^(08|53|57P0)|^(25006|40001|40P01|57014|55P03|25P03)$/;

/** The server shuts down, the connection is broken, or the server has become a standby. */
const DEAD_CONNECTION_STATE = /^(08|57P0[123])|^25006$/;

/** A pooler's refusal, which stays as long as its configuration. PgBouncer has one SQLSTATE for nearly everything. */
const UNSUPPORTED_PARAMETER = /^unsupported startup parameter/;

const POOL_BUSY_MESSAGE = 'timeout exceeded when trying to connect';

const UNAVAILABLE_SYSTEM_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'EPIPE',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/** A timeout of a statement, a lock or a transaction, a conflict of two transactions. */
const SLOW_STATE = /^(40001|40P01|57014|55P03|25P03)$/;

const SLOW_MESSAGE =
  /^(Query read timeout|timeout exceeded when trying to connect|the connection to Postgres gave no answer)/;

const UNAVAILABLE_MESSAGE =
  /^(Query read timeout|timeout exceeded when trying to connect|timeout expired|Connection terminated|Client has encountered a connection error|Postgres connection has been discarded|the connection to Postgres gave no answer)/;

/** Checks the shape, because errors of Node may come from another realm, as in a test runner. */
function isErrorLike(error: unknown): error is { readonly message: string } {
  return typeof error === 'object' && error !== null && 'message' in error;
}

function codeOf(error: unknown): string | undefined {
  if (!isErrorLike(error)) return undefined;
  const code: unknown = Reflect.get(error, 'code');
  return typeof code === 'string' ? code : undefined;
}

/** The answer to a COMMIT was lost, so the transaction may have been committed. */
export class CommitUnknownError extends Error {
  constructor(cause: unknown) {
    super('the connection to Postgres was lost during COMMIT', { cause });
  }
}

/** A server that can be reached, but accepts no writes. */
export class ReadOnlyServerError extends Error {
  /** @param kind such as `a standby` */
  constructor(server: string, kind: string) {
    super(`${server} is ${kind} and accepts no writes`);
  }
}

/** No server of a list accepts writes. */
export class NoWritableServerError extends Error {
  /** @param reasons one for each server, with its name */
  constructor(reasons: readonly string[]) {
    super(`no Postgres server accepts writes: ${reasons.join('; ')}`);
  }
}

/** Whether Postgres could not be reached or did not answer in time, so that a retry may succeed. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof CommitUnknownError) return true;
  if (error instanceof ReadOnlyServerError || error instanceof NoWritableServerError) return true;
  if (!isErrorLike(error) || isUnsupportedParameter(error)) return false;
  const code = codeOf(error);
  if (code === undefined) return UNAVAILABLE_MESSAGE.test(error.message);
  return UNAVAILABLE_SYSTEM_CODES.has(code) || UNAVAILABLE_STATE.test(code) || isNoSocket(error);
}

/** The Unix socket of Postgres does not exist. A file that is missing has the same code. */
function isNoSocket(error: object): boolean {
  return codeOf(error) === 'ENOENT' && Reflect.get(error, 'syscall') === 'connect';
}

/**
 * Whether Postgres can be reached, but took too long or was busy with other transactions: a statement, a lock, or the
 * wait for a connection. Also true if it stopped answering.
 */
export function isTooSlow(error: unknown): boolean {
  if (!isErrorLike(error)) return false;
  const code = codeOf(error);
  return code === undefined ? SLOW_MESSAGE.test(error.message) : SLOW_STATE.test(code);
}

/** Whether a statement that failed may have been executed: it was sent, and Postgres did not refuse it. */
function isAnswerLost(error: unknown): boolean {
  if (!isErrorLike(error)) return false;
  const code = codeOf(error);
  if (code === undefined) {
    return UNAVAILABLE_MESSAGE.test(error.message) && !error.message.endsWith('is not queryable');
  }
  return UNAVAILABLE_SYSTEM_CODES.has(code) || /^(08|57P0)/.test(code);
}

/** Whether a pooler refuses a setting of the connection. */
export function isUnsupportedParameter(error: unknown): boolean {
  return isErrorLike(error) && UNSUPPORTED_PARAMETER.test(error.message);
}

/** Whether no connection of the pool became free in time. */
export function isPoolBusy(error: unknown): boolean {
  return isErrorLike(error) && error.message === POOL_BUSY_MESSAGE;
}

/** Whether no answer came within `query_timeout`. */
function isReadTimeout(error: unknown): boolean {
  return isErrorLike(error) && error.message === 'Query read timeout';
}

/**
 * Whether a connection must not be used again after an error. After a query without an answer the next one would hang.
 *
 * @returns the error to throw instead; undefined if the connection may be used again
 */
export function deathOfConnection(statement: string, error: unknown): Error | undefined {
  if (statement === 'commit' && isAnswerLost(error)) return new CommitUnknownError(error);
  if (isReadTimeout(error))
    return new Error('the connection to Postgres gave no answer', { cause: error });
  const isDead = DEAD_CONNECTION_STATE.test(codeOf(error) ?? '');
  return isDead && error instanceof Error ? error : undefined;
}

const VIOLATIONS = new Set(['23503', '23505']);

/** The name of the violated unique or foreign key, or undefined for any other error. */
export function violatedConstraint(error: unknown): string | undefined {
  if (!VIOLATIONS.has(codeOf(error) ?? '')) return undefined;
  const name: unknown = Reflect.get(error as object, 'constraint');
  return typeof name === 'string' ? name : undefined;
}

/** Runs a statement. If it violates the constraint, throws `replacement` in place of its error. */
export async function replacingViolation<T>(
  constraint: string,
  replacement: () => Error,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (violatedConstraint(error) === constraint) throw replacement();
    throw error;
  }
}

/** SQLSTATE 55P03: `lock_timeout` passed. */
export function isLockTimeout(error: unknown): boolean {
  return codeOf(error) === '55P03';
}

/** Whether another session kept a table or a row for too long: SQLSTATE 55P03, or 40P01, a deadlock with it. */
export function isTableBusy(error: unknown): boolean {
  return isLockTimeout(error) || codeOf(error) === '40P01';
}

/** SQLSTATE 40001, 40P01: the transaction met another one. It changed nothing, and may succeed if it runs again. */
export function isConflict(error: unknown): boolean {
  return /^(40001|40P01)$/.test(codeOf(error) ?? '');
}

/** SQLSTATE 57014: `statement_timeout` passed. */
export function isStatementTimeout(error: unknown): boolean {
  return codeOf(error) === '57014';
}

/** SQLSTATE 23505: a row with this key exists, or occurs twice in one statement. */
export function isUniqueViolation(error: unknown): boolean {
  return codeOf(error) === '23505';
}

/** SQLSTATE 23514: a row violates a CHECK or the bounds of its partition. */
export function isCheckViolation(error: unknown): boolean {
  return codeOf(error) === '23514';
}

/**
 * Whether Postgres refuses the data of a row, so that a retry cannot succeed. SQLSTATE classes: 22 data
 * exception, 54 program limit exceeded.
 */
export function isRejectedRow(error: unknown): boolean {
  return /^(22|54)/.test(codeOf(error) ?? '');
}
