import type { Client } from '../../harness/client.ts';

/** The result of one call that creates a service. */
export interface WriteAnswer {
  readonly status: number;
  /** Of the service; empty if the call was not accepted. */
  readonly id: string;
  readonly endedAtMs: number;
}

/** Clients of the management API that create one service after the other. */
export interface WriteLoad {
  readonly answers: readonly WriteAnswer[];
  /** Sends no further calls, and resolves when the last one has ended. */
  stop(): Promise<void>;
}

const CLIENTS = 4;
const PACE_MS = 25;

/** Creates services until it is stopped. A call is not repeated, whatever its answer. */
export function startWriteLoad(management: Client, name: string, url: string): WriteLoad {
  const answers: WriteAnswer[] = [];
  let stopped = false;

  async function run(_: unknown, client: number): Promise<void> {
    for (let count = 1; !stopped; count += 1) {
      const body = { name: `${name}-${client}-${count}`, environment: 'production', url };
      const { status, id } = await management.call('POST', '/v1/services', { body }).then(
        (answer) => ({
          status: answer.status,
          id: answer.status === 201 ? answer.resource().id : '',
        }),
        () => ({ status: 0, id: '' }),
      );
      answers.push({ status, id, endedAtMs: performance.now() });
      await new Promise((resolve) => setTimeout(resolve, PACE_MS));
    }
  }

  const ended = Promise.all(Array.from({ length: CLIENTS }, run));
  return {
    answers,
    async stop() {
      stopped = true;
      await ended;
    },
  };
}
