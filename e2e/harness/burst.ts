import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import type { Client } from './client.ts';

export interface BurstAnswer {
  readonly status: number;
  readonly remaining: number;
  readonly resetSeconds: number;
}

const CONNECTIONS = 40;

/** Sends GETs to one data plane at once, over keep-alive connections, and reads every response. */
export async function burst(client: Client, route: string, count: number): Promise<BurstAnswer[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const options = { agent, headers: { authorization: `Bearer ${client.token}` } };
  const one = async (): Promise<BurstAnswer> => {
    const sent = request(`${client.baseUrl}/v1/proxy/${route}`, options);
    sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    await once(response, 'end');
    return {
      status: response.statusCode ?? 0,
      remaining: Number(response.headers['x-ratelimit-remaining']),
      resetSeconds: Number(response.headers['x-ratelimit-reset']),
    };
  };
  try {
    return await Promise.all(Array.from({ length: count }, one));
  } finally {
    agent.destroy();
  }
}
