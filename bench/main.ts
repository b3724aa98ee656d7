import { runAllocations } from './allocations/run-allocations.ts';
import { runAttack } from './attack/run-attack.ts';
import { benchCommand } from './command-line.ts';
import { runBulkheads } from './bulkheads/run-bulkheads.ts';
import { runCompare } from './compare/run-compare.ts';
import { runConfigChange } from './config-change/run-config-change.ts';
import { runCurves } from './curves/run-curves.ts';
import { runIngest } from './ingest/run-ingest.ts';
import { runLatency } from './latency/run-latency.ts';
import { runNats } from './nats/run-nats.ts';
import { runOverload } from './overload/run-overload.ts';
import { runProfile } from './profile/run-profile.ts';
import { runRecords } from './records/run-records.ts';
import { runRows } from './rows/run-rows.ts';
import { runStatistics } from './statistics/run-statistics.ts';
import { runWorkloads } from './workloads/run-workloads.ts';
import { runWorkers } from './workers/run-workers.ts';

const bench = benchCommand({
  rows: runRows,
  workloads: runWorkloads,
  compare: runCompare,
  curves: runCurves,
  latency: runLatency,
  profile: runProfile,
  allocations: runAllocations,
  attack: runAttack,
  bulkheads: runBulkheads,
  overload: runOverload,
  workers: runWorkers,
  configChange: runConfigChange,
  ingest: runIngest,
  nats: runNats,
  records: runRecords,
  statistics: runStatistics,
});

try {
  await bench.parseAsync();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
