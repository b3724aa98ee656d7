import { eventually } from '@gateway/shared/test/eventually';

const SHARES = /^gateway_quota_share(?:\{[^}]*\})? (\S+)$/gm;

/**
 * A quota with windows that begin soon after a data plane has got its share, so that it can grant requests without NATS
 * that it has not leased.
 */
export const SHORT_QUOTA = { limit: 10_000, window_seconds: 1 };

/**
 * Resolves when each of these data planes, which are all, has an equal share of every quota, a few seconds after its
 * start, and a window of `SHORT_QUOTA` has begun since. Each worker counts as one.
 */
export async function shareQuotas(dataPlanes: readonly { adminUrl: string }[]): Promise<void> {
  await eventually(
    async () => {
      const texts = await Promise.all(
        dataPlanes.map(async ({ adminUrl }) => (await fetch(`${adminUrl}/metrics`)).text()),
      );
      const shares = texts.flatMap((text) => [...text.matchAll(SHARES)].map(([, share]) => share));
      const equal = 1 / shares.length;
      const all = shares.every((share) => Math.abs(Number(share) - equal) < 0.001);
      if (!all) throw new Error(`the shares are ${shares.join(', ')}`);
    },
    { deadlineMs: 30_000 },
  );
  const sharedMs = Date.now();
  await eventually(() => {
    if (Date.now() <= sharedMs + 1000) throw new Error('the window has not begun');
  });
}
