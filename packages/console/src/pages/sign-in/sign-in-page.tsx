import { ApiError } from '@gateway/client';
import { Alert, Button, Center, Paper, PasswordInput, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { useState, type SubmitEvent } from 'react';
import { signIn } from '../../api/session.ts';
import { Brand } from '../../shell/brand.tsx';
import { useDocumentTitle } from '../../ui/document-title.ts';
import { errorText } from '../../ui/error-text.ts';
import classes from './sign-in.module.css';

const route = getRouteApi('/sign-in');

/** Exchanges a token for a session and returns to the page that asked for it. */
export function SignInPage() {
  const { next = '/console', reason } = route.useSearch();
  const [token, setToken] = useState('');
  const queryClient = useQueryClient();
  const router = useRouter();
  useDocumentTitle('Sign in');
  const attempt = useMutation({
    mutationFn: () => signIn(token.trim()),
    onSuccess: () => {
      setToken('');
      // Nothing that another token could read is shown to this one.
      queryClient.clear();
      router.history.replace(next);
    },
  });

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    if (token.trim() !== '') attempt.mutate();
  }

  return (
    <Center component="main" mih="100vh" p="md">
      <Paper withBorder p="xl" w="100%" maw={400}>
        <form onSubmit={submit}>
          <Stack>
            <div>
              <Brand />
              <Title order={1} mt="md">
                Sign in to the console
              </Title>
              <Text size="sm" c="dimmed" mt={4}>
                See what goes through the gateway, why a request failed, and change services, routes
                and tokens.
              </Text>
            </div>
            {reason === 'ended' && !attempt.isError && (
              <Alert color="yellow" role="status">
                Your session has ended. Sign in again to return to the page.
              </Alert>
            )}
            {attempt.isError && (
              <Alert color="red" role="alert" title="You are not signed in">
                {explain(attempt.error)}
              </Alert>
            )}
            <PasswordInput
              label="Token"
              placeholder="gwt_…"
              name="token"
              autoComplete="off"
              spellCheck={false}
              value={token}
              onChange={(event) => setToken(event.currentTarget.value)}
              data-autofocus
              autoFocus
              required
              withAsterisk={false}
            />
            <Button type="submit" fullWidth loading={attempt.isPending}>
              Sign in
            </Button>
            <details className={classes.help}>
              <summary>Where do I find a token?</summary>
              <ul>
                <li>
                  On your machine, <code>npm start</code> prints it.
                </li>
                <li>
                  In an installation, the first one is <code>GATEWAY_ADMIN_TOKEN</code> of the
                  control plane. With it you create others, with fewer rights, under Tokens.
                </li>
              </ul>
            </details>
            <Text size="xs" c="dimmed">
              The browser does not keep the token. The session ends after 12 hours without use, when
              the token is revoked or expires, and when you sign out.
            </Text>
          </Stack>
        </form>
      </Paper>
    </Center>
  );
}

function explain(error: Error): string {
  if (error instanceof ApiError && error.code === 'authentication_failed') {
    return `${error.message} Check that you copied the whole token.`;
  }
  return errorText(error);
}
