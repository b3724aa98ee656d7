import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from '@gateway/local-stack/process/free-port';
import { startProcess, type ManagedProcess } from '@gateway/local-stack/process/managed-process';
import { waitUntilReady } from '@gateway/local-stack/process/wait-until-ready';
import { findPrometheus } from '@gateway/testing/prometheus';
import { parse } from 'yaml';
import { z } from 'zod';
import { writeShortRules } from './short-rules.ts';

export interface PrometheusServer {
  readonly url: string;
  close(): Promise<void>;
}

const READY_TIMEOUT_MS = 30_000;
const deployed = new URL('../../deploy/prometheus/prometheus.yml', import.meta.url);

const deployedConfiguration = z.looseObject({
  global: z.looseObject({}),
  scrape_configs: z.array(
    z.looseObject({
      job_name: z.string(),
      relabel_configs: z.array(z.looseObject({ replacement: z.string().optional() })).optional(),
    }),
  ),
});

/** The admin addresses (`host:port`) of each job. */
type Targets = Readonly<Record<string, readonly string[]>>;

export interface PrometheusOptions {
  /** Time between two scrapes of a target, and between two evaluations of the rules; by default `500ms`. */
  readonly interval?: string;
  /** Further arguments of Prometheus. */
  readonly moreArgs?: readonly string[];
}

/**
 * Starts the real Prometheus and the blackbox exporter with deploy/prometheus/prometheus.yml and its rules. Only the addresses
 * and the times are those of the test.
 */
export async function startPrometheus(
  targets: Targets,
  { interval = '500ms', moreArgs = [] }: PrometheusOptions = {},
): Promise<PrometheusServer> {
  const programs = await findPrometheus({ log: () => undefined });
  const folder = await mkdtemp(path.join(tmpdir(), 'gateway-prometheus-'));
  const [port, exporterPort] = [await freePort(), await freePort()];
  const [url, exporter] = [`127.0.0.1:${port}`, `127.0.0.1:${exporterPort}`];
  const file = (name: string) => path.join(folder, name);
  const rules = file('rules.yml');
  await writeShortRules(rules);
  const configuration = await configured(targets, exporter, { interval, rules });
  await writeFile(file('blackbox.yml'), 'modules: { http_2xx: { prober: http } }');
  await writeFile(file('prometheus.yml'), JSON.stringify(configuration));
  const running: ManagedProcess[] = [];
  const close = async () => {
    await Promise.all(running.map((one) => one.stop()));
    await rm(folder, { recursive: true });
  };
  const start = async (command: string, args: readonly string[], readyUrl: string) => {
    const name = path.basename(command);
    const env = { PATH: process.env['PATH'] };
    const one = await startProcess({ name, command, args, env, logFile: file(`${name}.log`) });
    running.push(one);
    const check = async () => (await fetch(readyUrl)).ok;
    await waitUntilReady(one, { check, timeoutMs: READY_TIMEOUT_MS });
  };
  try {
    await start(
      programs.blackboxExporter,
      [`--config.file=${file('blackbox.yml')}`, `--web.listen-address=${exporter}`],
      `http://${exporter}/`,
    );
    await start(
      programs.server,
      [
        `--config.file=${file('prometheus.yml')}`,
        `--storage.tsdb.path=${file('data')}`,
        `--web.listen-address=${url}`,
        ...moreArgs,
      ],
      `http://${url}/-/ready`,
    );
  } catch (error) {
    await close();
    throw error;
  }
  return { url: `http://${url}`, close };
}

/** The deployed configuration, as JSON, which is YAML. */
async function configured(
  targets: Targets,
  exporter: string,
  { interval, rules }: { readonly interval: string; readonly rules: string },
) {
  const text = await readFile(deployed, 'utf8');
  const { global, scrape_configs: jobs, ...rest } = deployedConfiguration.parse(parse(text));
  return {
    ...rest,
    global: {
      ...global,
      scrape_interval: interval,
      scrape_timeout: interval,
      evaluation_interval: interval,
    },
    rule_files: [rules],
    scrape_configs: jobs.map(({ relabel_configs: relabelings, ...job }) => ({
      ...job,
      static_configs: [{ targets: targets[job.job_name] ?? [] }],
      ...(relabelings && {
        relabel_configs: relabelings.map((one) =>
          one.replacement === undefined ? one : { ...one, replacement: exporter },
        ),
      }),
    })),
  };
}
