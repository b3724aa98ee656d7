import type { RouteComponent } from '@tanstack/react-router';
import type { ComponentType } from 'react';
import { loadFile } from './api/load-file.ts';
import { Loading } from './ui/loading.tsx';

/**
 * The component of a page whose file is loaded before the page is shown. If that fails, the page shows why, and the next
 * visit loads the file again. The router's own kind reloads the tab instead, which leaves nothing while the control plane
 * is away.
 */
export function lazyPage(load: () => Promise<ComponentType>): RouteComponent {
  let Content: ComponentType | undefined;
  let loading: Promise<void> | undefined;
  const LazyPage: RouteComponent = () => (Content === undefined ? <Loading /> : <Content />);
  LazyPage.preload = () => {
    if (Content !== undefined) return undefined;
    loading ??= loadFile(load)
      .then((loaded) => {
        Content = loaded;
      })
      .finally(() => {
        loading = undefined;
      });
    return loading;
  };
  return LazyPage;
}
