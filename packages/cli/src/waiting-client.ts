import type { GatewayClient } from '@gateway/client';
import { withProgress } from './terminal/progress.ts';
import type { Terminal } from './terminal/terminal.ts';

type Call = (path: string, ...init: object[]) => Promise<unknown>;
type List = (path: string, ...init: object[]) => AsyncGenerator<unknown, void, undefined>;

/** The same client; while a call or a list takes more than a second, it shows a spinner. */
export function waitingClient(
  client: GatewayClient,
  terminal: Terminal,
  label: string,
): GatewayClient {
  const waiting = (method: Exclude<keyof GatewayClient, 'list'>) => {
    const call = client[method] as Call;
    return (...given: Parameters<Call>) => withProgress(terminal, label, () => call(...given));
  };

  async function* list(...given: Parameters<List>): ReturnType<List> {
    let end: () => void = () => undefined;
    const read = new Promise<void>((resolve) => (end = resolve));
    const shown = withProgress(terminal, label, () => read);
    try {
      yield* (client.list as List)(...given);
    } finally {
      end();
      await shown;
    }
  }

  // The types of the calls are those of the client.
  return {
    get: waiting('get'),
    post: waiting('post'),
    put: waiting('put'),
    patch: waiting('patch'),
    delete: waiting('delete'),
    list,
  } as unknown as GatewayClient;
}
