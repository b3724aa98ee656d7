import { createServer, type ServerResponse } from 'node:http';
import { listen } from '@gateway/shared/test/upstream';
import type { Run } from '../lab/run.ts';

/** Starts an upstream that answers no POST until it is told to answer all. Health checks are answered at once. */
export async function startHeldUpstream(run: Run) {
  const waiting: ServerResponse[] = [];
  let expected = Promise.withResolvers<undefined>();
  let count = 0;
  const server = createServer((request, response) => {
    request.resume();
    if (request.method !== 'POST') response.end();
    else if (waiting.push(response) === count) expected.resolve(undefined);
  });
  const { url, close } = await listen(server);
  run.defer(close);
  return {
    url,
    /** Resolves when this many more requests wait. It is called before they are sent. */
    waitFor(requests: number): Promise<undefined> {
      count = requests;
      expected = Promise.withResolvers();
      return expected.promise;
    },
    /** Answers all requests that wait. */
    answer(): void {
      for (const response of waiting.splice(0)) response.end('{}');
    },
  };
}
