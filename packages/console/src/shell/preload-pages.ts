import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';

const AFTER_MS = 3000;

/** What some browsers know of the network (the Network Information API). */
interface WithConnection {
  readonly connection?: { readonly saveData?: boolean };
}

/**
 * Loads the files of all pages soon after the first one is shown. They come from the control plane, so that otherwise no
 * other page could be opened while it is away. Not for somebody who asks for less data.
 */
export function usePreloadedPages(): void {
  const router = useRouter();
  useEffect(() => {
    if ((navigator as WithConnection).connection?.saveData === true) return;
    const timer = setTimeout(() => {
      for (const route of Object.values(router.routesById)) {
        // A page whose file cannot be loaded now loads it when it is opened.
        router.loadRouteChunk(route)?.catch(() => undefined);
      }
    }, AFTER_MS);
    return () => clearTimeout(timer);
  }, [router]);
}
