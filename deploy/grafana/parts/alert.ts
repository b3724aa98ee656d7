import { alertRules, type AlertRule } from '../../prometheus/alert-rules.ts';

/** The values at which an alert fires. */
export interface AlertLimit {
  readonly side: 'above' | 'below';
  readonly value: number;
}

/** Grafana colours values from a threshold on, and an alert on `> 0` fires above it. */
export const JUST_ABOVE_ZERO = 1e-9;
/** The comparison that a rule ends with. A product may stand for its value. */
const COMPARISON = /(>|<|==) (\d+(?:\.\d+)?)(?: \* (\d+))?$/;

const rules = new Map(alertRules().map((rule) => [rule.alert, rule]));

/** @throws Error if rules.yml has no such alert */
export function alertRule(name: string): AlertRule {
  const rule = rules.get(name);
  if (rule === undefined) throw new Error(`${name} is not in deploy/prometheus/rules.yml`);
  return rule;
}

/** @throws Error if the rule does not end with a comparison that Grafana can show */
export function alertLimit(name: string): AlertLimit {
  const [, operator, number, factor = '1'] = COMPARISON.exec(alertRule(name).expr) ?? [];
  const value = Number(number) * Number(factor);
  if (operator === '>') return { side: 'above', value: value === 0 ? JUST_ABOVE_ZERO : value };
  if (operator === '<') return { side: 'below', value };
  if (operator === '==' && value === 0) return { side: 'below', value: JUST_ABOVE_ZERO };
  throw new Error(`${name}: the expression ends with no comparison that a threshold can show`);
}
