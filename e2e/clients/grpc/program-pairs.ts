import type { Observations, Pair } from '../harness/pair.ts';
import { runCommand } from '@gateway/tools/process/run-command';
import { grpcJs } from './grpc-js-pairs.ts';
import { CANCELLED, makePair, MESSAGES, SEEN, SEEN_BOTH_WAYS, STREAMING } from './make-pair.ts';
import { BOTH_WAYS_SCENARIOS, SCENARIOS } from './scenarios.ts';
import { buildGoProgram, findPythonProgram, go, hasPython, type CallProgram } from './programs.ts';
import { startGrpcJsServer } from './servers/grpc-js.ts';
import { startProcessServer } from './servers/process.ts';

const TIMEOUT_MS = 60_000;
const noGo = go === undefined ? { missing: 'go is not on the PATH' } : {};
const noPython = hasPython ? {} : { missing: 'there is no /usr/bin/python3' };
/** Calls that the programs end with a deadline or cancel. */
const CANCELS = 2;

/** Programs in other languages as clients of grpc-js, and as its servers. */
export const programPairs: readonly Pair[] = [
  programPair('gRPC for Go', noGo, buildGoProgram, {
    ...SEEN,
    'status with details': 'FailedPrecondition: größer als erlaubt, detail AP8QCg0',
    'error after 10 messages': '10 messages, then ResourceExhausted: enough',
    'deadline, and a server that does not answer': 'DeadlineExceeded',
    [CANCELLED]: '10 messages, then Canceled: context canceled',
  }),
  programPair('gRPC for Python', noPython, findPythonProgram, {
    ...SEEN,
    'deadline, and a server that does not answer': 'DEADLINE_EXCEEDED',
    [CANCELLED]: '10 messages, then CANCELLED: Locally cancelled by application!',
  }),
  makePair({
    ...grpcJs,
    ...noGo,
    variant: 'a server in Go',
    startServer: async () => startProcessServer(await buildGoProgram()),
  }),
  makePair({
    ...grpcJs,
    ...noPython,
    variant: 'a server in Python',
    startServer: async () => startProcessServer(await findPythonProgram()),
    // It ends no connection gracefully at a signal, and has a thread for each call.
    scenarios: { ...SCENARIOS, ...BOTH_WAYS_SCENARIOS },
    direct: pick(grpcJs.direct, [...Object.keys(SCENARIOS), ...Object.keys(BOTH_WAYS_SCENARIOS)]),
  }),
];

function programPair(
  client: string,
  missing: Pick<Pair, 'missing'>,
  find: () => Promise<CallProgram>,
  seen: Observations,
): Pair {
  return {
    client,
    ...missing,
    version: 'of the system',
    reach: 'host',
    direct: { ...seen, ...SEEN_BOTH_WAYS, 'calls that the server sees cancelled': `${CANCELS}` },
    otherwise: {},
    async start() {
      const { file, args, env } = await find();
      const server = await startGrpcJsServer();
      return {
        urls: [server.url],
        service: { protocol: 'http2' },
        route: STREAMING,
        close: () => server.close(),
        async use({ url, token }) {
          const given = [...args, new URL(url).host, token, String(MESSAGES)];
          const { code, output } = await runCommand(file, given, {
            env: { ...process.env, ...env },
            timeoutMs: TIMEOUT_MS,
          });
          if (code !== 0) throw new Error(output);
          const lines = output.trim().split('\n');
          const pairs = lines.map((line) => line.split(' = ', 2) as [string, string]);
          await server.ledger.untilCancelled(CANCELS);
          return {
            ...Object.fromEntries(pairs),
            'calls that the server sees cancelled': String(server.ledger.cancelled),
          };
        },
      };
    },
  };
}

function pick(seen: Observations, names: readonly string[]): Observations {
  return Object.fromEntries(Object.entries(seen).filter(([name]) => names.includes(name)));
}
