import { Container, Title } from '@mantine/core';
import type { ErrorComponentProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Loading } from '../ui/loading.tsx';
import { AwayNotice } from './away-notice.tsx';
import { PageError } from './page-error.tsx';

/** While the frame of the pages, or the sign-in, is loaded. */
export function FirstLoading() {
  return (
    <WithoutShell>
      <Loading />
    </WithoutShell>
  );
}

/** In place of the frame of the pages, or of the sign-in, if it failed. */
export function FirstError(props: ErrorComponentProps) {
  return (
    <WithoutShell>
      <PageError {...props} />
    </WithoutShell>
  );
}

function WithoutShell({ children }: { readonly children: ReactNode }) {
  return (
    <Container component="main" size="sm" py="xl">
      <Title order={1} size="h2" mb="md">
        Gateway console
      </Title>
      <AwayNotice>The page opens when it does.</AwayNotice>
      {children}
    </Container>
  );
}
