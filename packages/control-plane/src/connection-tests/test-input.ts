import { changeShape, pickFields } from '@gateway/shared/definitions/derived-schemas';
import { environmentNameField, idField, objectField } from '@gateway/shared/definitions/fields';
import { serviceFields } from '@gateway/shared/definitions/service';
import { upstreamsField } from '@gateway/shared/definitions/service-upstreams';
import { urlField } from '@gateway/shared/definitions/url-field';
import { exampleId } from '@gateway/shared/definitions/fields';
import type { AddressRanges } from '@gateway/shared/net/upstream-addresses';
import { dataPlaneField } from '../data-planes/data-plane-field.ts';
import type { z } from 'zod';
import { contradictsUpstreams, hasUpstreams } from '../services/service-upstreams.ts';
import { tlsField } from '../services/service-tls.ts';

/** What a connection depends on. A credential is never sent. */
const TESTED_FIELDS = { protocol: true, health_path: true, health_check: true } as const;

/** The body of a test; addresses in `deny` are refused. */
export function connectionTestSchema(deny: AddressRanges) {
  return objectField({
    environment: environmentNameField.optional().meta({
      description:
        'The environment whose data planes are asked. It may be left out with `service_id`, or if the token covers only one.',
      examples: ['production'],
    }),
    service_id: idField
      .nullable()
      .default(null)
      .meta({
        description:
          'A service: what is left out below is as it is stored, its client certificate too. null: what is left out has its default.',
        examples: [exampleId('svc')],
      }),
    data_plane: dataPlaneField('up to 16 live ones that serve the environment, from each region'),
    url: urlField(deny)
      .optional()
      .meta({
        description: 'The URL of the only upstream, short for `upstreams`.',
        examples: ['https://payments.internal:8443'],
      }),
    upstreams: upstreamsField(deny).optional(),
    ...changeShape(pickFields(TESTED_FIELDS, serviceFields)),
    tls: tlsField.optional(),
  })
    .refine((body) => !contradictsUpstreams(body), {
      path: ['url'],
      error: 'must be the url of the first item of `upstreams`, or be left out',
    })
    .refine((body) => body.service_id !== null || hasUpstreams(body), {
      path: ['url'],
      error: 'is required unless `upstreams` or `service_id` is given',
    })
    .meta({
      id: 'ConnectionTestQuestion',
      description: 'The upstreams to connect to.',
      anyOf: [{ required: ['url'] }, { required: ['upstreams'] }, { required: ['service_id'] }],
      examples: [{ environment: 'production', url: 'https://payments.internal:8443' }],
    });
}

export type ConnectionTestInput = z.output<ReturnType<typeof connectionTestSchema>>;
