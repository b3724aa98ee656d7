import { z } from 'zod';
import {
  displayNameField,
  exampleId,
  idField,
  integerField,
  objectField,
  stringField,
} from './fields.ts';

const MAX_VERSIONS = 16;

const versionFields = {
  name: stringField(
    /^[a-z0-9._-]{1,63}$/,
    'must be 1 to 63 characters of a-z, 0-9, ., - and _',
  ).meta({
    title: 'Name',
    description: 'The name of the version. A caller selects it with `X-Gateway-Version`.',
    examples: ['canary'],
  }),
  weight: integerField(0, 1000).meta({
    title: 'Weight',
    description:
      'Its share of the sum of weights is its share of the requests. 0: only `X-Gateway-Version` selects it.',
    examples: [10],
  }),
};

const versionSchema = objectField({
  name: versionFields.name,
  service_id: idField.meta({
    title: 'Service',
    description: 'The service that handles requests to this version.',
    examples: [exampleId('svc')],
  }),
  weight: versionFields.weight,
}).meta({ title: 'Version' });

const listError = `must be a list of 1 to ${MAX_VERSIONS} items`;

/** The versions of a route. Its requests are divided between them by weight. */
export const versionsField = versionList(versionSchema);

/** The versions of a route in a declared configuration, which names services by their names. */
export const declaredVersionsField = versionList(
  objectField({
    name: versionFields.name,
    service: displayNameField.meta({
      description: 'The name of the service that handles requests to this version.',
      examples: ['payments'],
    }),
    weight: versionFields.weight,
  }),
);

function versionList<T extends z.ZodType<{ readonly name: string; readonly weight: number }>>(
  version: T,
) {
  return z
    .array(version, { error: listError })
    .min(1, { error: listError })
    .max(MAX_VERSIONS, { error: listError })
    .superRefine((versions, context) => {
      const seen = new Set<string>();
      versions.forEach(({ name }, index) => {
        if (seen.has(name)) {
          const message = 'is the name of another version';
          context.addIssue({ code: 'custom', path: [index, 'name'], message });
        }
        seen.add(name);
      });
      if (versions.length > 0 && versions.every(({ weight }) => weight === 0)) {
        context.addIssue({ code: 'custom', message: 'must have at least one weight above 0' });
      }
    });
}

export type RouteVersion = z.output<typeof versionSchema>;
