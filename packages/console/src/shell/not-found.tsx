import { Text } from '@mantine/core';
import { ButtonLink } from '../ui/button-link.tsx';
import { Page } from '../ui/page.tsx';
import { MODIFIER } from './modifier.ts';

/** For a path without a page, within the frame of the pages. */
export function NotFound() {
  return (
    <Page title="Not found" heading="There is no such page">
      <Text c="dimmed">
        The address may be mistyped, or the page has moved. {MODIFIER} K finds pages, routes,
        services, tokens and requests.
      </Text>
      <div>
        <ButtonLink to="/overview" variant="default">
          To the overview
        </ButtonLink>
      </div>
    </Page>
  );
}
