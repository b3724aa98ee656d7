import { GatewayError, type ErrorDetail } from '@gateway/shared/errors/gateway-error';
import type { AddressRanges } from '@gateway/shared/net/upstream-addresses';
import { parseInput } from '../http/input.ts';
import { referencesOf } from '../services/secret-references.ts';
import { applySchema, documentFault } from './apply-document.ts';
import { servicesIn, withoutDocumentReferences } from './document-references.ts';

/** Which addresses a gateway refuses is its setting. */
const NONE: AddressRanges = { has: () => false, texts: [] };

/**
 * What an apply would refuse of a document whatever the environment has: the same definitions, without a gateway. The paths
 * are JSON pointers into the document.
 */
export function documentFaults(sent: unknown): readonly ErrorDetail[] {
  const ofReferences = servicesIn(sent).flatMap((service, index) =>
    referencesOf(service).faults.map(({ path, message }) =>
      documentFault(sent, ['services', index, ...path], message),
    ),
  );
  return [...schemaFaults(sent), ...ofReferences];
}

function schemaFaults(sent: unknown): readonly ErrorDetail[] {
  try {
    parseInput(applySchema(NONE), withoutDocumentReferences(sent), documentFault);
    return [];
  } catch (error) {
    if (error instanceof GatewayError) return error.details ?? [];
    throw error;
  }
}
