import { withoutReferences } from '../services/secret-references.ts';

/** The services of a document that is not validated yet. */
export function servicesIn(sent: unknown): readonly unknown[] {
  const services = (sent as { services?: unknown } | null | undefined)?.services;
  return Array.isArray(services) ? (services as unknown[]) : [];
}

/** Such a document without the secrets that are references: the schemas do not see them. */
export function withoutDocumentReferences(sent: unknown): unknown {
  const services = servicesIn(sent);
  if (services.length === 0) return sent;
  return { ...(sent as object), services: services.map(withoutReferences) };
}
