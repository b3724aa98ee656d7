import { createSecureContext, type SecureContext } from 'node:tls';
import type { UpstreamTls } from '../routing-table/compile-tls.ts';

const contexts = new WeakMap<UpstreamTls, SecureContext>();

/** The TLS settings of a service for Node, with TLS 1.2 or newer. Created once for each configuration of the service. */
export function secureContextOf(tls: UpstreamTls): SecureContext {
  let context = contexts.get(tls);
  if (context === undefined) {
    context = createSecureContext({
      minVersion: 'TLSv1.2',
      ...(tls.ca !== undefined && { ca: tls.ca }),
      ...tls.clientCertificate,
    });
    contexts.set(tls, context);
  }
  return context;
}
