import { expect, test } from '@jest/globals';
import { isPageCalled } from './page-called.ts';

test('the beginning of a page is called by its title, in the singular and the plural', () => {
  const page = { page: 'Quotas', heading: '' };
  expect(isPageCalled(page, 'quota')).toBe(true);
  expect(isPageCalled(page, ' Quotas ')).toBe(true);
  expect(isPageCalled(page, 'quota limit')).toBe(false);
});

test('a part of a page is not called by the title of the page', () => {
  expect(isPageCalled({ page: 'Quotas', heading: 'What is guaranteed' }, 'quotas')).toBe(false);
  expect(isPageCalled(undefined, 'quotas')).toBe(false);
});
