import { Command } from 'commander';
import { watchable, withWatchOption } from '../../input/watch-option.ts';
import { collectItems } from '../../lookup/collect-items.ts';
import { readEnvironment } from '../../lookup/check-environment.ts';
import { linesText } from '../../output/print.ts';
import { ApiError } from '@gateway/client';
import { DifferenceError } from '../../program/exit-codes.ts';
import type { Cli, Session } from '../../session.ts';
import { problemsOf } from './problems.ts';
import { statusLines, type Status } from './status-lines.ts';

/** The gateway answers these at once, or there is something to see. */
const TIMEOUT_MS = 10_000;

interface Options {
  readonly exitCode?: true;
}

/** `gwctl status` */
export const statusCommand = (cli: Cli): Command =>
  withWatchOption(new Command('status'))
    .description(
      'Shows whether the gateway can be reached and by which token, the environment with the health of its services, and ' +
        'whether each data plane is live and runs the newest version. What needs a look is listed at the end.',
    )
    .option('--exit-code', 'exit with 2 if something needs a look')
    .addHelpText('after', '\nExample:\n  $ gwctl status --exit-code')
    .action(
      watchable(cli, async ({ exitCode }: Options, command: Command) => {
        const session = cli.open(command, { timeoutMs: TIMEOUT_MS });
        const { terminal, printsData } = session;
        const status = await readStatus(session);
        const problems = problemsOf(status, terminal.nowMs());
        if (printsData) await session.printResource({ ...status, problems });
        else terminal.out(linesText(statusLines(status, problems, terminal)));
        if (exitCode && problems.length > 0) throw new DifferenceError();
      }),
    );

/** @throws ConnectionError if the control plane cannot be reached */
async function readStatus(session: Session): Promise<Status> {
  const { client, url, environment, terminal } = session;
  const startedMs = terminal.nowMs();
  const token = (await client.get('/v1/whoami')).body.data;
  const answered_in_ms = terminal.nowMs() - startedMs;
  const [found, services, dataPlanes] = await Promise.all([
    environment === undefined ? null : unlessRefused(() => readEnvironment(session, environment)),
    environment === undefined
      ? null
      : unlessRefused(() =>
          collectItems(
            client.list('/v1/services', { params: { query: { environment, limit: 200 } } }),
          ),
        ),
    unlessRefused(() =>
      collectItems(
        client.list('/v1/data-planes', {
          params: { query: { limit: 200, ...(environment === undefined ? {} : { environment }) } },
        }),
      ),
    ),
  ]);
  return {
    gateway: { url, answered_in_ms },
    token,
    environment: found,
    services: services && services.map(({ id, name, status }) => ({ id, name, status })),
    data_planes: dataPlanes,
  };
}

/** null: the token may not read it. */
async function unlessRefused<Result>(read: () => Promise<Result>): Promise<Result | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ApiError && (error.status === 401 || error.status === 403)) return null;
    throw error;
  }
}
