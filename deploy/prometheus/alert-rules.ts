import { z } from 'zod';
import { readYaml } from '../read-yaml.ts';

const rule = z.strictObject({
  alert: z.string(),
  expr: z.string().transform((text) => text.trim()),
  for: z.string().optional(),
  labels: z.strictObject({ severity: z.enum(['page', 'ticket']) }),
  annotations: z.strictObject({ summary: z.string(), runbook: z.string() }),
});
const ruleFile = z.strictObject({
  groups: z.array(z.strictObject({ name: z.string(), rules: z.array(rule) })),
});

export type AlertRule = z.infer<typeof rule>;

/** The rules of rules.yml. */
export function alertRules(): AlertRule[] {
  const [file] = readYaml('prometheus/rules.yml');
  return ruleFile.parse(file).groups.flatMap(({ rules }) => rules);
}
