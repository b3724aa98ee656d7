import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { timeOfId } from '@gateway/shared/ids';

/** A call. Its times are by the clock of this machine, which is also that of the data planes and of NATS. */
export interface Call {
  /** Identifies it at the upstream. */
  readonly id: string;
  readonly route: string;
  readonly sentMs: number;
  /** undefined if there was no response. */
  readonly answer: Answer | undefined;
}

export interface Answer {
  /** When the data plane received the request, by its id. */
  readonly receivedMs: number;
  /** How long the data plane worked on it, or waited for a lease. */
  readonly gatewayMs: number;
  readonly status: number;
  /** From the moment of the decision to the end of the window, in whole seconds, rounded up. */
  readonly resetSeconds: number;
}

export interface Target {
  readonly route: string;
  readonly baseUrl: string;
}

/** Calls at a constant rate, whether or not earlier ones were answered. */
export interface WindowLoad {
  /** Resolves when the last call has ended. */
  stop(): Promise<readonly Call[]>;
}

const TICK_MS = 10;
/** Requests may wait a second for a lease. */
const MAX_IN_FLIGHT = 400;
const MAX_SOCKETS = 100;
const TIMEOUT_MS = 5000;

/** @param perSecond the rate to each target */
export function startWindowLoad(
  targets: readonly Target[],
  token: string,
  perSecond: number,
): WindowLoad {
  const calls: Call[] = [];
  const running = targets.map((target, index) => {
    const agent = new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS });
    const inFlight = new Set<Promise<void>>();
    const begunAtMs = performance.now();
    let due = 0;
    const tick = () => {
      for (; due < ((performance.now() - begunAtMs) / 1000) * perSecond; due += 1) {
        if (inFlight.size >= MAX_IN_FLIGHT) continue;
        const id = `${index}-${due}`;
        const call = sendOne(agent, target, token, id).then((ended) => {
          calls.push(ended);
          inFlight.delete(call);
        });
        inFlight.add(call);
      }
    };
    const timer = setInterval(tick, TICK_MS);
    return async () => {
      clearInterval(timer);
      await Promise.all(inFlight);
      agent.destroy();
    };
  });
  return {
    async stop() {
      await Promise.all(running.map((stop) => stop()));
      return calls;
    },
  };
}

async function sendOne(
  agent: Agent,
  { route, baseUrl }: Target,
  token: string,
  id: string,
): Promise<Call> {
  const sentMs = Date.now();
  const sent = request(`${baseUrl}/v1/proxy/${route}?call=${id}`, {
    agent,
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  try {
    sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    await once(response, 'end');
    return { id, route, sentMs, answer: answerOf(response) };
  } catch {
    return { id, route, sentMs, answer: undefined };
  }
}

function answerOf({ statusCode = 0, headers }: IncomingMessage): Answer {
  return {
    receivedMs: timeOfId(String(headers['x-request-id'])),
    gatewayMs: Number(headers['x-gateway-latency']),
    status: statusCode,
    resetSeconds: Number(headers['x-ratelimit-reset']),
  };
}
