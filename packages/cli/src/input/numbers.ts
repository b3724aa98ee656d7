import { InvalidArgumentError } from 'commander';

/** The value of an option that is a whole number of at least 0. */
export function wholeNumber(text: string): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(number)) return number;
  throw new InvalidArgumentError('It must be a whole number.');
}

/** The parts of a list such as `production,staging`. */
export const commaList = (text: string): string[] => text.split(',').map((part) => part.trim());
