import { errorMessage, StartError } from '../process/errors.ts';

/** The calls of the management API that the local stack makes. */
export interface ManagementClient {
  get(path: string): Promise<unknown>;
  post(path: string, body: unknown): Promise<unknown>;
  patch(path: string, body: unknown): Promise<unknown>;
}

const timeoutMs = 10_000;

/**
 * A client of the management API. Every call throws a StartError that names the call if the response is not 2xx.
 */
export function createManagementClient(baseUrl: string, token: string): ManagementClient {
  async function call(method: string, path: string, body?: unknown): Promise<unknown> {
    try {
      const response = await fetch(baseUrl + path, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        signal: AbortSignal.timeout(timeoutMs),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${response.status} ${text}`);
      return JSON.parse(text) as unknown;
    } catch (error) {
      throw new StartError(`${method} ${path} failed: ${errorMessage(error)}`, { cause: error });
    }
  }
  return {
    get: (path) => call('GET', path),
    post: (path, body) => call('POST', path, body),
    patch: (path, body) => call('PATCH', path, body),
  };
}
