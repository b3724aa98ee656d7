/** The colour of an environment, so that nobody takes one for another. */
export type EnvironmentTone = 'production' | 'staging' | 'other';

/** By what people call such environments: one that callers depend on is red. */
export function environmentTone(name: string): EnvironmentTone {
  if (/\b(?:prod|production|live)\b/.test(name)) return 'production';
  return /\b(?:stag|staging|stage|preprod|pre|uat|qa|canary)\b/.test(name) ? 'staging' : 'other';
}
