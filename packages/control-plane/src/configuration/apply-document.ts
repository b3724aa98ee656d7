import type { ErrorDetail } from '@gateway/shared/errors/gateway-error';
import type { AddressRanges } from '@gateway/shared/net/upstream-addresses';
import { z } from 'zod';
import {
  environmentNameField,
  integerField,
  objectField,
} from '@gateway/shared/definitions/fields';
import { routeSchemas } from '../routes/route.ts';
import { serviceSchemas } from '../services/service.ts';

const MAX_ITEMS = 10_000;

/** A list of resources with unique names. */
function namedList<T extends z.ZodType<{ readonly name: string }>>(item: T, kind: string) {
  const error = `must be a list of at most ${MAX_ITEMS} items`;
  return z
    .array(item, { error })
    .max(MAX_ITEMS, { error })
    .superRefine((items, context) => {
      const seen = new Map<string, number>();
      items.forEach(({ name }, index) => {
        const first = seen.get(name);
        if (first !== undefined) {
          const message = `is the name of another ${kind} in the document, at /${kind}s/${first}`;
          context.addIssue({ code: 'custom', path: [index, 'name'], message });
        } else seen.set(name, index);
      });
    });
}

function flag(description: string) {
  return z
    .boolean({ error: 'must be true or false' })
    .default(false)
    .meta({ description, examples: [false] });
}

/** The body of an apply; addresses in `deny` are refused, and hosts of routes that overlap with `reserved`. */
export function applySchema(deny: AddressRanges, reserved: readonly string[] = []) {
  return objectField({
    environment: environmentNameField.optional().meta({
      description: 'The environment in the path. An export has it.',
      examples: ['production'],
    }),
    services: namedList(serviceSchemas(deny).declared, 'service').optional().meta({
      description: 'The services. If it is left out, services are not changed.',
    }),
    routes: namedList(routeSchemas(deny, reserved).declared, 'route').optional().meta({
      description: 'The routes. If it is left out, routes are not changed.',
    }),
    prune: flag(
      'Whether services and routes that the document does not have are deleted. A kind that is left out is not pruned.',
    ),
    dry_run: flag('Whether only the difference is shown and nothing is changed.'),
    if_version: integerField(0, Number.MAX_SAFE_INTEGER)
      .optional()
      .meta({
        description:
          'The version of the configuration that the document is based on. If another one is the newest, or if changes wait to be published, nothing is changed and the answer is 412. 0: no version is published yet.',
        examples: [42],
      }),
  }).meta({
    id: 'EnvironmentApply',
    description: 'The services and routes of an environment, by name.',
    examples: [
      {
        services: [{ name: 'payments', url: 'https://payments.internal:8443' }],
        routes: [{ name: 'charges', service: 'payments', timeout_ms: 5000 }],
      },
    ],
  });
}

export type ApplyDocument = z.output<ReturnType<typeof applySchema>>;
export type DeclaredService = NonNullable<ApplyDocument['services']>[number];
export type DeclaredRoute = NonNullable<ApplyDocument['routes']>[number];

/** A fault of a document: its path is a JSON pointer, and its message names the resource. */
export function documentFault(
  document: unknown,
  path: readonly PropertyKey[],
  message: string,
): ErrorDetail {
  const [kind, index] = path;
  const items = (document as Readonly<Record<string, unknown>> | null)?.[String(kind)];
  const item: unknown = Array.isArray(items) ? items[Number(index)] : undefined;
  const name = (item as { name?: unknown } | null | undefined)?.name;
  const isNamed = typeof name === 'string' && /^[\w. -]{1,63}$/.test(name);
  const pointer = path.map((part) => `/${escaped(String(part))}`).join('');
  const resource = isNamed ? `${String(kind).slice(0, -1)} ${name}: ` : '';
  return { path: pointer, message: resource + message };
}

function escaped(part: string): string {
  return part.replaceAll('~', '~0').replaceAll('/', '~1');
}
