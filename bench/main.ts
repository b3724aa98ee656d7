import { allocations } from './allocations/allocations.ts';
import { attack } from './attack/attack.ts';
import { bulkheads } from './bulkheads/bulkheads.ts';
import { chooseCommand } from './command.ts';
import { compare } from './compare/compare.ts';
import { configChange } from './config-change/config-change.ts';
import { curves } from './curves/curves.ts';
import { gwctlStart } from './gwctl-start/gwctl-start.ts';
import { http2Client } from './http2-client/http2-client.ts';
import { ingest } from './ingest/ingest.ts';
import { untilInterrupted } from './lab/run.ts';
import { latency } from './latency/latency.ts';
import { nats } from './nats/nats.ts';
import { overload } from './overload/overload.ts';
import { profile } from './profile/profile.ts';
import { records } from './records/records.ts';
import { statistics } from './statistics/statistics.ts';
import { workers } from './workers/workers.ts';
import { rows } from './workloads/rows.ts';
import { workloads } from './workloads/workloads.ts';

/** The first is the one that runs without a name. */
const COMMANDS = [
  rows,
  workloads,
  compare,
  curves,
  latency,
  profile,
  allocations,
  attack,
  bulkheads,
  overload,
  http2Client,
  workers,
  configChange,
  ingest,
  nats,
  records,
  statistics,
  gwctlStart,
];

try {
  const chosen = chooseCommand(COMMANDS, process.argv.slice(2));
  if (typeof chosen === 'string') process.stdout.write(`${chosen}\n`);
  else {
    const { command, values, args } = chosen;
    await untilInterrupted((run) => command.run(run, values, args));
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
