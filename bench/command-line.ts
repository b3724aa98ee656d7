import path from 'node:path';
import { RECORD_DOCUMENTS } from '@gateway/control-plane/requests/record-document';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { AllocationsOptions } from './allocations/run-allocations.ts';
import type { AttackOptions } from './attack/run-attack.ts';
import type { BulkheadsOptions } from './bulkheads/run-bulkheads.ts';
import type { CompareOptions } from './compare/run-compare.ts';
import type { ConfigChangeOptions } from './config-change/run-config-change.ts';
import type { CurvesOptions } from './curves/run-curves.ts';
import type { IngestOptions } from './ingest/run-ingest.ts';
import type { LatencyOptions } from './latency/run-latency.ts';
import type { OverloadOptions } from './overload/run-overload.ts';
import type { ProfileOptions } from './profile/run-profile.ts';
import type { RecordsOptions } from './records/run-records.ts';
import type { StatisticsOptions } from './statistics/run-statistics.ts';
import type { RowsOptions } from './rows/run-rows.ts';
import type { WorkloadsOptions } from './workloads/run-workloads.ts';

/** The work behind each subcommand. */
export interface Runs {
  rows(options: RowsOptions): Promise<void>;
  workloads(options: WorkloadsOptions): Promise<void>;
  compare(options: CompareOptions): Promise<void>;
  curves(options: CurvesOptions): Promise<void>;
  latency(options: LatencyOptions): Promise<void>;
  profile(options: ProfileOptions): Promise<void>;
  allocations(options: AllocationsOptions): Promise<void>;
  attack(options: AttackOptions): Promise<void>;
  bulkheads(options: BulkheadsOptions): Promise<void>;
  overload(options: OverloadOptions): Promise<void>;
  workers(): Promise<void>;
  configChange(options: ConfigChangeOptions): Promise<void>;
  ingest(options: IngestOptions): Promise<void>;
  nats(): Promise<void>;
  records(options: RecordsOptions): Promise<void>;
  statistics(options: StatisticsOptions): Promise<void>;
}

/** The command line of the bench. Every limit on how long a run takes is here. */
export function benchCommand(runs: Runs): Command {
  const bench = new Command('npm run bench --')
    .description('Measures the gateway on this machine. All traffic stays on 127.0.0.1.')
    .configureHelp({ showGlobalOptions: false })
    .showHelpAfterError();

  bench
    .command('rows', { isDefault: true })
    .description('CPU time, rate and latency of the gateway beside other proxies (the default)')
    .option('--rounds <n>', 'measured rounds; each visits every row once', whole(1, 100), 7)
    .option('--round-seconds <n>', 'length of a round under full load', whole(1, 60), 1)
    .option('--warm-up-seconds <n>', 'load on each row before the first round', whole(1, 60), 10)
    .option('--connections <n>', 'connections of the load', whole(1, 1000), 32)
    .option('--only <rows>', 'measure these rows and nginx, such as gateway,floor', names, [])
    .option('--no-write', 'leave docs/understand/benchmarks.md unchanged')
    .action((options: RowsOptions) => runs.rows(options));

  bench
    .command('workloads')
    .description('CPU time and rate of the gateway beside other proxies for other kinds of traffic')
    .argument('[names...]', 'only these workloads, such as bodies')
    .option('--rounds <n>', 'measured rounds; each visits every proxy', whole(1, 100), 5)
    .option('--write', 'write the tables into docs/understand/benchmarks.md', false)
    .action((workloads: string[], options: Omit<WorkloadsOptions, 'names'>) =>
      runs.workloads({ ...options, names: workloads }),
    );

  bench
    .command('compare')
    .description('CPU time and memory of the gateway of another checkout beside this one')
    .argument('<folder>', 'the other checkout, with its packages installed', (folder) =>
      path.resolve(folder),
    )
    .option('--only <rows>', 'compare these rows, such as gateway', names, [])
    .option('--rounds <n>', 'measured seconds of each checkout for each row', whole(1, 200), 40)
    .action((folder: string, options: Omit<CompareOptions, 'folder'>) =>
      runs.compare({ ...options, folder }),
    );

  bench
    .command('curves')
    .description('how costs grow, as charts: over routes and other sizes')
    .argument('[name]', 'only the curve of this name', '')
    .option('--write', 'write images and tables into docs/', false)
    .action((name: string, options: Omit<CurvesOptions, 'name'>) =>
      runs.curves({ ...options, name }),
    );

  bench
    .command('latency')
    .description('latency and pauses under a constant rate, beside nginx')
    .option('--minutes <n>', 'load on the gateway', whole(1, 60), 10)
    .option('--load <n>', 'per cent of its own saturation', whole(1, 95), 70)
    .option('--write', 'write the table into docs/understand/benchmarks.md', false)
    .action((options: LatencyOptions) => runs.latency(options));

  bench
    .command('profile')
    .description('CPU profile of the data plane under load: time by part and by function')
    .option('--row <name>', 'the row of the gateway whose load is profiled', 'gateway')
    .option('--write', 'write the tables into docs/understand/benchmarks.md', false)
    .action((options: ProfileOptions) => runs.profile(options));

  bench
    .command('allocations')
    .description('bytes that a request allocates, and those that it keeps while it waits')
    .option('--checkout <folder>', 'measure the gateway of another checkout', (folder) =>
      path.resolve(folder),
    )
    .option('--waiting <n>', 'requests that wait at once', whole(100, 1000), 1000)
    .option('--functions <n>', 'functions in each table', whole(1, 200), 20)
    .option('--write', 'write the tables into docs/understand/benchmarks.md', false)
    .action((options: AllocationsOptions) => runs.allocations(options));

  bench
    .command('attack')
    .description('p99 of a steady load, with and without slow or oversized callers')
    .argument('[name]', 'run only the attacks whose name contains this', '')
    .action((name: string) => runs.attack({ name }));

  bench
    .command('bulkheads')
    .description(
      'failures and p99 of a sound route beside hung and slow ones, and beside slow callers',
    )
    .option('--callers <n>', 'callers of the hung and the slow route', whole(2, 10_000), 5000)
    .option('--bodies <n>', 'callers with slow bodies', whole(1, 12_000), 12_000)
    .option('--rounds <n>', 'rounds of about 45 s for each of the four kinds', whole(1, 20), 3)
    .option('--write', 'write the table into docs/understand/benchmarks.md', false)
    .argument('[name]', 'only the neighbours whose name contains this', '')
    .action((name: string, options: Omit<BulkheadsOptions, 'name'>) =>
      runs.bulkheads({ ...options, name }),
    );

  bench
    .command('overload')
    .description(
      'goodput and latency of a service under overload, with and without an adaptive limit',
    )
    .option('--times <n>', 'load, in parts of the capacity', whole(1, 10), 3)
    .option('--workers <n>', 'workers of the upstream', whole(1, 1000), 20)
    .option('--work-ms <n>', 'how long a worker needs for a request', whole(1, 10_000), 50)
    .option('--seconds <n>', 'length of each measurement', whole(1, 600), 20)
    .option('--data-planes <n>', 'data planes that share the load', whole(1, 8), 1)
    .option('--write', 'write the table into docs/understand/benchmarks.md', false)
    .action((options: OverloadOptions) => runs.overload(options));

  bench
    .command('workers')
    .description('one process compared with a group of two workers')
    .action(() => runs.workers());

  bench
    .command('config-change')
    .description('cost of a configuration change, and the time until data planes serve it')
    .option('--changes <n>', 'changes to make', whole(1, 2000), 100)
    .option('--data-planes <n>', 'data planes to start', whole(1, 8), 2)
    .option('--routes <n>', 'routes, ten of each service', whole(10, 1_000_000), 10_000)
    .option('--tokens <n>', 'tokens', whole(1, 1_000_000), 10_000)
    .action((options: ConfigChangeOptions) => runs.configChange(options));

  bench
    .command('ingest')
    .description('request records a second that the control plane stores in Postgres')
    .option('--rate <n>', 'records a second', whole(1, 200_000), 20_000)
    .option('--seconds <n>', 'for how long', whole(1, 600), 60)
    .option('--data-planes <n>', 'senders', whole(1, 200), 4)
    .addOption(documentsOption())
    .option('--cpu-prof <folder>', 'write a CPU profile of the control plane into this folder')
    .action((options: IngestOptions) => runs.ingest(options));

  bench
    .command('nats')
    .description('CPU time of NATS for an idempotency key, a quota lease and a heartbeat')
    .action(() => runs.nats());

  bench
    .command('records')
    .description('duration of record queries when Postgres holds many records')
    .option(
      '--rows <n>',
      'records; 10 million take 12 GB of disk, compact ones 7 GB',
      whole(1, 100_000_000),
      10_000_000,
    )
    .option('--days <n>', 'days that the records are spread over', whole(1, 29), 29)
    .option('--lookups <n>', 'records that are looked up by id', whole(100, 100_000), 2000)
    .addOption(documentsOption())
    .option(
      '--memory-mib <n>',
      'memory of Postgres with its page cache (a control group; needs Linux and root)',
      whole(128, 1_000_000),
    )
    .option('--hold', 'keep everything running until Ctrl-C, for an hour at most', false)
    .action((options: RecordsOptions) => runs.records(options));

  bench
    .command('statistics')
    .description('duration of GET /v1/stats with the statistics of many records')
    .option(
      '--rows <n>',
      'records that the statistics are the sums of',
      whole(1000, 1e9),
      50_000_000,
    )
    .option('--days <n>', 'days that the records are spread over', whole(1, 29), 29)
    .option('--routes <n>', 'routes, each with two versions', whole(1, 1000), 20)
    .action((options: StatisticsOptions) => runs.statistics(options));

  return bench;
}

function documentsOption(): Option {
  return new Option('--documents <form>', 'as RECORD_DOCUMENTS of the control plane')
    .choices(RECORD_DOCUMENTS)
    .default('named');
}

function whole(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`must be a whole number from ${min} to ${max}`);
  };
}

function names(text: string): readonly string[] {
  return text.split(',').filter((name) => name !== '');
}
