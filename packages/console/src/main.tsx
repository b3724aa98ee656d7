import './design/kit.css';
import '@mantine/notifications/styles.css';
import './design/fonts.css';
import './design/global.css';
import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { keepFirstCall, type FirstCall } from './api/first-call.ts';
import { createQueryClient } from './api/query-client.ts';
import { styleNonce } from './nonce.ts';
import { createConsoleRouter } from './router.ts';
import { theme } from './design/theme.ts';
import { cssVariablesResolver } from './design/variables.ts';

/**
 * Shows the console.
 * @param firstCall what was asked before this file was loaded
 */
export function startConsole(firstCall: FirstCall | undefined): void {
  keepFirstCall(firstCall);
  const queryClient = createQueryClient();
  const router = createConsoleRouter(queryClient);
  const container = document.getElementById('root');
  if (container === null) return;
  createRoot(container).render(
    <StrictMode>
      <MantineProvider
        theme={theme}
        cssVariablesResolver={cssVariablesResolver}
        defaultColorScheme="auto"
        getStyleNonce={styleNonce}
      >
        <QueryClientProvider client={queryClient}>
          <RouterProvider router={router} />
          <Notifications position="bottom-right" />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );
}
