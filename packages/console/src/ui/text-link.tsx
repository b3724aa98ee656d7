import { Anchor } from '@mantine/core';
import { createLink } from '@tanstack/react-router';

/** A link to a page of the console, in text. Its path and its search are checked by the compiler. */
export const TextLink = createLink(Anchor<'a'>);
