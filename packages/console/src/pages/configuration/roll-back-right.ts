/** What a token needs to roll an environment back. */
export const ROLL_BACK_RIGHT = {
  scope: ['config:write', 'services:write', 'routes:write'],
  allRoutes: true,
} as const;
