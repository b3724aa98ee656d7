import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { ErrorCode } from '@gateway/shared/errors/error-table';
import { invalidField } from './input.ts';

export const UNKNOWN_ENVIRONMENT = 'must be the name of an environment';
export const UNKNOWN_SERVICE = 'must be the id of a service';

/**
 * Runs a call whose body names another resource. If that does not exist, the answer is a 400 that names the field; a
 * resource in the path would be a 404.
 *
 * @param code the error of `run` if the named resource does not exist
 */
export async function namedInBody<T>(
  code: ErrorCode,
  { path, message }: { readonly path: string; readonly message: string },
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof GatewayError && error.code === code) throw invalidField(path, message);
    throw error;
  }
}
