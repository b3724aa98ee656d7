import { useQuery } from '@tanstack/react-query';
import type { ComponentType, ReactNode } from 'react';
import { loadFile } from '../api/load-file.ts';
import { LoadError } from './load-error.tsx';

/**
 * A part of a page whose file is loaded when the part is shown for the first time. If that fails, it is loaded again as
 * what pages read is.
 * @param name unique among the parts
 * @param placeholder stands in its place meanwhile
 */
export function lazyPart<Props extends object>(
  name: string,
  load: () => Promise<ComponentType<Props>>,
  placeholder: (props: Props) => ReactNode,
): ComponentType<Props> {
  const query = {
    queryKey: ['part', name],
    queryFn: () => loadFile(load),
    staleTime: Infinity,
    structuralSharing: false,
  };
  return function LazyPart(props: Props) {
    const { data: Content, error, refetch } = useQuery(query);
    if (Content !== undefined) return <Content {...props} />;
    if (error !== null) return <LoadError error={error} onRetry={() => void refetch()} />;
    return placeholder(props);
  };
}
