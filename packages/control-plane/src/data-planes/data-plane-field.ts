import { z } from 'zod';

/** The field `data_plane` of a body. @param otherwise which data planes are asked if it is null */
export const dataPlaneField = (otherwise: string) =>
  z
    .string({ error: 'must be a string or null' })
    .max(64, { error: 'must be at most 64 characters' })
    .nullable()
    .default(null)
    .meta({
      description: `The id of the data plane to ask. null: ${otherwise}.`,
      examples: ['data-plane-1'],
    });
