import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useEnvironment } from './environments.ts';

/**
 * Shows the environment of a resource in the header and in the URL. A link to the resource may name another environment, or
 * none, and the reader would believe that the resource is part of that one.
 */
export function useFollowEnvironment(environment: string | null | undefined): void {
  const shown = useEnvironment();
  const navigate = useNavigate();
  useEffect(() => {
    if (environment === null || environment === undefined || environment === shown) return;
    void navigate({ to: '.', search: (now) => ({ ...now, environment }), replace: true });
  }, [environment, shown, navigate]);
}
