import { createClient } from '@gateway/client';
import { errorMessage, StartError } from '@gateway/tools/process/errors';

/** Calls with paths and bodies that are only known when they run. */
export interface ManagementClient {
  get(path: string): Promise<unknown>;
  post(path: string, body: unknown): Promise<unknown>;
  patch(path: string, body: unknown): Promise<unknown>;
}

const timeoutMs = 10_000;

type UntypedCall = (path: string, init?: object) => Promise<{ readonly body: unknown }>;

/**
 * A client of the management API. Every call throws a StartError that names the call if the response is not 2xx.
 */
export function createManagementClient(baseUrl: string, token: string): ManagementClient {
  const client = createClient({ baseUrl, token, timeoutMs });
  async function call(method: 'get' | 'post' | 'patch', path: string, init?: object) {
    try {
      const { body } = await (client[method] as UntypedCall)(path, init);
      return body;
    } catch (error) {
      const what = `${method.toUpperCase()} ${path}`;
      throw new StartError(`${what} failed: ${errorMessage(error)}`, { cause: error });
    }
  }
  return {
    get: (path) => call('get', path),
    post: (path, body) => call('post', path, { body }),
    patch: (path, body) => call('patch', path, { body }),
  };
}
