import { z } from 'zod';
import { readYaml } from '../read-yaml.ts';

const alert = z.strictObject({
  alert: z.string(),
  expr: z.string().transform((text) => text.trim()),
  for: z.string().optional(),
  labels: z.strictObject({ severity: z.enum(['page', 'ticket']) }),
  annotations: z.strictObject({
    summary: z.string(),
    /** The section in this repository. */
    runbook: z.string(),
    /** The same section, a dashboard and a page of the console, as templates of Prometheus. */
    runbook_url: z.string(),
    dashboard_url: z.string(),
    console_url: z.string().optional(),
  }),
});
const recording = z.strictObject({
  record: z.string(),
  expr: z.string().transform((text) => text.trim()),
});
const ruleFile = z.strictObject({
  groups: z.array(
    z.strictObject({
      name: z.string(),
      interval: z.string().optional(),
      rules: z.array(z.union([alert, recording])),
    }),
  ),
});

export type AlertRule = z.infer<typeof alert>;
type RecordingRule = z.infer<typeof recording>;

/** The alerts of rules.yml. */
export function alertRules(): AlertRule[] {
  return allRules().filter((rule) => 'alert' in rule);
}

/** The rules of rules.yml whose results are new series. */
export function recordingRules(): RecordingRule[] {
  return allRules().filter((rule) => 'record' in rule);
}

function allRules() {
  const [file] = readYaml('prometheus/rules.yml');
  return ruleFile.parse(file).groups.flatMap(({ rules }) => rules);
}
