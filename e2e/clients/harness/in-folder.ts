import type { StartedServer } from './pair.ts';
import { withFolder } from './program.ts';

/** Starts a server that has a folder until it is closed. */
export function startInFolder(
  start: (folder: string) => Promise<StartedServer>,
): Promise<StartedServer> {
  const started = Promise.withResolvers<StartedServer>();
  const closed = Promise.withResolvers<undefined>();
  const removed = withFolder(async (folder) => {
    const server = await start(folder);
    started.resolve({
      ...server,
      async close() {
        await server.close();
        closed.resolve(undefined);
        await removed;
      },
    });
    await closed.promise;
  });
  removed.catch(started.reject);
  return started.promise;
}
