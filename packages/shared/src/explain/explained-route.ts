import { z } from 'zod';

/* Which route gets the request, and which version of it. */

export const reachedBySchema = z.object({
  environment: z
    .string()
    .nullable()
    .meta({ description: 'The environment of that route.', examples: ['production'] }),
  route: z
    .string()
    .nullable()
    .meta({
      description:
        'The name of the route that gets the request. null: none, or one that the token of the call does not cover.',
      examples: ['orders'],
    }),
  way: z
    .object({
      hosts: z.array(z.string()).meta({ description: 'Its host. Empty: every host.' }),
      paths: z
        .array(
          z.object({
            exact: z
              .string()
              .optional()
              .meta({ description: 'The whole path.', examples: ['/status'] }),
            prefix: z
              .string()
              .optional()
              .meta({ description: 'The first segments of the path.', examples: ['/v2/orders'] }),
          }),
        )
        .meta({ description: 'Its path.' }),
      headers: z
        .array(
          z.object({
            name: z
              .string()
              .meta({ description: 'The name of the header.', examples: ['x-api-version'] }),
            value: z.string().meta({ description: 'Its whole value.', examples: ['2'] }),
          }),
        )
        .meta({ description: 'Its headers.' }),
    })
    .nullable()
    .meta({
      description:
        'The way that the request takes, one host and one path of `match` of that route.',
      examples: [{ hosts: ['api.example.com'], paths: [{ prefix: '/v2/orders' }], headers: [] }],
    }),
  reason: z.string().meta({
    description: 'Why.',
    examples: ['The request takes this way, the most specific one that takes it.'],
  }),
});

export const versionSchema = z.object({
  name: z
    .string()
    .nullable()
    .meta({
      description: 'The version of the route. null: the route names a service.',
      examples: ['v2'],
    }),
  service_id: z.string().meta({
    description: 'The service of the version.',
    examples: ['svc_01kb5zv4x8n3m6q9r2t7w0y1z4'],
  }),
  service: z.string().meta({ description: 'The name of that service.', examples: ['orders'] }),
});
