import type { ReactNode } from 'react';
import { useScope } from '../api/rights.ts';
import { ButtonLink } from './button-link.tsx';
import { TextLink } from './text-link.tsx';

interface NextStepProps {
  /** What the page that it leads to needs. Without it there is no link. */
  readonly scope: string;
  readonly to: '/services/new' | '/routes' | '/routes/new';
  /** The id of the service that the page is opened for. */
  readonly service?: string;
  /** Whether it is what the page is there for. */
  readonly isButton?: boolean;
  readonly children: ReactNode;
}

/** In place of what is not there yet: a link to where the reader makes it. */
export function NextStep(props: NextStepProps) {
  const { scope, to, service, isButton = false, children } = props;
  const { allowed } = useScope(scope);
  if (!allowed) return null;
  if (isButton) return <ButtonLink to={to}>{children}</ButtonLink>;
  return (
    <TextLink
      to={to}
      search={service === undefined ? {} : { service }}
      size="sm"
      underline="always"
    >
      {children}
    </TextLink>
  );
}
